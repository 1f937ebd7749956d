import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@rstest/core';
import { readLastStart, writeLastStart } from './buildPackages.ts';

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

test('on a full disk it is named in one line with its cure, and nothing is written where nothing changed', () => {
  const file = join(folder, 'full.json');
  writeLastStart(file, ['host@1.0.0+000000000000']);
  // the device that has room for nothing, in the place of the next one
  symlinkSync('/dev/full', `${file}.new`);
  expect(() => writeLastStart(file, ['host@1.1.0+111111111111'])).toThrow(
    /^DATA_DIR: .*full\.json cannot be written \(ENOSPC.*\)\. Free room there, .*$/,
  );
  writeLastStart(file, ['host@1.0.0+000000000000']);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(['host@1.0.0+000000000000']);
});
