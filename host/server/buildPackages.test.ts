import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@rstest/core';
import { readLastStart } from './buildPackages.ts';

const folder = mkdtempSync(join(tmpdir(), 'liaozhai-last-start-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the last start is remembered, and none before the first', () => {
  const file = join(folder, 'last-start.json');
  expect(readLastStart(file)).toEqual([]);
  writeFileSync(file, '["host@1.0.0+000000000000"]');
  expect(readLastStart(file)).toEqual(['host@1.0.0+000000000000']);
});

test.each(['', '["host@1', '\0\0\0', '{"a":1}', '[1]'])(
  'a damaged one is named in one line with its cure: %j',
  (text) => {
    const file = join(folder, 'damaged.json');
    writeFileSync(file, text);
    expect(() => readLastStart(file)).toThrow(/^DATA_DIR: .*damaged\.json is damaged: delete it, .*\.$/);
  },
);
