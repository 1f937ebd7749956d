import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from '@rstest/core';
import { claimBuild, readLastStart, writeLastStart } from './buildPackages.ts';

const folder = mkdtempSync(join(tmpdir(), 'liaozhai-last-start-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the last start is stored; before the first there is no record', () => {
  const file = join(folder, 'last-start.json');
  expect(readLastStart(file)).toEqual([]);
  writeFileSync(file, '["host@1.0.0+000000000000"]');
  expect(readLastStart(file)).toEqual(['host@1.0.0+000000000000']);
});

test.each(['', '["host@1', '\0\0\0', '{"a":1}', '[1]'])(
  'a damaged record is reported in one line with a cure: %j',
  (text) => {
    const file = join(folder, 'damaged.json');
    writeFileSync(file, text);
    expect(() => readLastStart(file)).toThrow(/^DATA_DIR: .*damaged\.json is damaged: delete it, .*\.$/);
  },
);

test('a full disk is reported in one line with a cure; an unchanged record is not written', () => {
  const file = join(folder, 'full.json');
  writeLastStart(file, ['host@1.0.0+000000000000']);
  // a device without space, in place of the next file
  symlinkSync('/dev/full', `${file}.new`);
  expect(() => writeLastStart(file, ['host@1.1.0+111111111111'])).toThrow(
    /^DATA_DIR: .*full\.json cannot be written \(ENOSPC.*\)\. Free room there, .*$/,
  );
  writeLastStart(file, ['host@1.0.0+000000000000']);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(['host@1.0.0+000000000000']);
});

test('a start waits for another start’s build, and repeats an unfinished one', async () => {
  const marker = join(folder, 'building');
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  onTestFinished(() => void other.kill('SIGKILL'));
  writeFileSync(marker, String(other.pid));
  const claims = () =>
    claimBuild(
      marker,
      () => !existsSync(marker),
      () => rmSync(marker),
    );
  expect(await claims()).toBe(false);
  const claimed = await Promise.all(
    [1, 2].map(() =>
      claimBuild(
        marker,
        () => false,
        () => {},
      ),
    ),
  );
  expect([claimed, readFileSync(marker, 'utf8')]).toEqual([[true, true], String(process.pid)]);
  writeFileSync(marker, '');
  expect(
    await claimBuild(
      marker,
      () => false,
      () => {},
    ),
  ).toBe(true);
});
