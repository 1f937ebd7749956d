import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from '@rstest/core';
import { ConfigError } from '../env.ts';
import { loadPrompts } from './prompts.ts';

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'prompts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('prompts of the folder replace the default ones', () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'reply.md'), '\uFEFF用一句话回应。\r\n');
  expect(loadPrompts(folder)).toEqual({ ...loadPrompts(undefined), reply: '用一句话回应。' });
});

test.each<[string, (path: string) => void, RegExp]>([
  ['a missing folder', () => {}, /there is no folder/],
  ['a file in place of the folder', (path) => writeFileSync(path, '讲故事'), /there is no folder/],
  ['a folder in place of a file', (path) => mkdirSync(join(path, 'story.md'), { recursive: true }), /cannot be read/],
  [
    'a file that an editor stored as GBK',
    (path) => {
      mkdirSync(path);
      writeFileSync(join(path, 'story.md'), Buffer.from('c4e3bac3', 'hex'));
    },
    /cannot be read.*UTF-8/,
  ],
])('%s is refused in one line', (_, make, cure) => {
  const path = join(makeFolder(), 'own');
  make(path);
  const load = () => loadPrompts(path);
  expect(load).toThrow(ConfigError);
  expect(load).toThrow(new RegExp(`^AI_PROMPTS_DIR: .*${cure.source}.*$`));
});
