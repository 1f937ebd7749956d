import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { repoRoot } from '@liaozhai/shared/build/facts';
import { afterAll, expect, test } from '@rstest/core';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'liaozhai-run-')));
const cache = join(repoRoot, 'node_modules/.cache/programs');
const program = join(folder, 'program.ts');

afterAll(() => {
  rmSync(folder, { recursive: true });
  for (const name of readdirSync(cache).filter((each) => each.includes(basename(folder))))
    rmSync(join(cache, name), { recursive: true });
});

const write = (file: string, ...lines: string[]) => writeFileSync(join(folder, file), lines.join('\n'));

function run(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['host/server/run.mjs', ...words], {
    encoding: 'utf8',
  });
  return { status, out: stdout.trim(), err: stderr };
}

test('a program has its arguments, its place and its exit code', () => {
  write(
    'program.ts',
    '#!/usr/bin/env node',
    `const place: string[] = [import.meta.url, import.meta.dirname, import.meta.filename];`,
    'console.log(JSON.stringify([process.argv.slice(1), place]));',
    'process.exitCode = 3;',
  );
  const { status, out } = run(program, '--with', '狐 狸');
  expect([status, JSON.parse(out)]).toEqual([
    3,
    [
      [program, '--with', '狐 狸'],
      [`file://${program}`, folder, program],
    ],
  ]);
});

test('each start runs the sources as they are now, also those that are imported', () => {
  write('program.ts', `import { word } from './word.ts';`, 'console.log(word);');
  for (const word of ['狐', '鬼', '妖']) {
    write('word.ts', `export const word: string = '${word}';`);
    expect([run(program).out, run(program).out]).toEqual([word, word]);
  }
});

test('a part that is imported late comes when it is needed', () => {
  write('program.ts', `console.log('first');`, `await import('./late.ts');`);
  write('late.ts', `console.log('late');`);
  expect(run(program).out).toBe('first\nlate');
});

test('an error names the line of its source', () => {
  write('program.ts', 'interface Story { title: string }', '', `throw new Error('no story');`);
  const { status, err } = run(program);
  expect(status).toBe(1);
  expect(err).toContain(`${program}:3:`);
});

test('a program that cannot be read ends with the file, the line and the cause', () => {
  write('program.ts', 'const story: = 1;');
  expect(run(program)).toEqual({
    status: 1,
    out: '',
    err: expect.stringMatching(/program\.ts:1:13[\s\S]*const story: = 1;/),
  });
});

test('a damaged record of the cache is written again', () => {
  write('program.ts', `console.log('well');`);
  run(program);
  const [record = ''] = readdirSync(cache).filter((name) => name.includes(basename(folder)) && name.endsWith('.json'));
  writeFileSync(join(cache, record), '{"folder":');
  expect([run(program).out, run(program).out]).toEqual(['well', 'well']);
});

test('a program with a source of the future runs, and leaves no bundle behind', () => {
  write('program.ts', `console.log('well');`);
  const bundles = () => readdirSync(cache).filter((name) => name.includes(basename(folder)));
  run(program);
  const before = bundles();
  utimesSync(program, Date.now() / 1000, Date.now() / 1000 + 3_600);
  expect([run(program).out, run(program).out]).toEqual(['well', 'well']);
  expect(bundles()).toEqual(before);
});

test('a program that is missing ends with the usage', () => {
  expect(run('no.ts').err).toBe('no program "no.ts": node host/server/run.mjs <program.ts> [arguments]\n');
});
