import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@rstest/core';
import { load } from 'js-yaml';

const outside = join(dirname(fileURLToPath(import.meta.url)), 'outside');
let root = '';

/** Replaces npm: records its arguments and prints the output of the release CLI. */
const npm = `#!/bin/sh
echo "$@" >> calls
case "$*" in
  *publish*) [ -f refused ] && exit 1; echo '{"id":"gifts@1.4.42+3f9c1a7b20de","created":true}' ;;
  *override*) echo 'https://app.example/gifts?override=abc' ;;
esac
`;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ship-'));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ version: '1.4.0' }));
  writeFileSync(join(root, 'npm'), npm);
  chmodSync(join(root, 'npm'), 0o755);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const ship = (...words: string[]) =>
  spawnSync(process.execPath, [join(outside, 'ship.mjs'), ...words], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${root}:${process.env.PATH}` },
  });

test('the run number is the third number of the version, and the link is printed', () => {
  const { status, stdout } = ship('42');
  expect([status, stdout]).toEqual([0, 'https://app.example/gifts?override=abc\n']);
  expect(readFileSync(join(root, 'calls'), 'utf8').trim().split('\n')).toEqual([
    'run --silent release -- publish dist --version 1.4.42 --json',
    'run --silent release -- override gifts@1.4.42+3f9c1a7b20de --for 3d',
  ]);
});

test('a refused publish ends the run', () => {
  writeFileSync(join(root, 'refused'), '');
  expect(ship('42').status).toBe(1);
  expect(readFileSync(join(root, 'calls'), 'utf8')).not.toContain('override');
});

test.each(['', '0', '1.2', 'abc', '-1'])('the run number %j is refused by name', (run) => {
  const { status, stderr } = ship(run);
  expect([status, stderr]).toEqual([2, expect.stringContaining(`the run number is "${run}"`)]);
});

test.each([
  ['.github/workflows/release.yml', '"$GITHUB_RUN_NUMBER"'],
  ['.gitlab-ci.yml', '"$CI_PIPELINE_IID"'],
  ['.workflow/release.yml', '"$GITEE_PIPELINE_BUILD_NUMBER"'],
])('%s runs every check before it ships by its own run number', (file, run) => {
  const text = readFileSync(join(outside, file), 'utf8');
  expect(load(text)).toBeTypeOf('object');
  const steps = [
    'npm ci',
    'npm run typecheck',
    'npm test',
    'npm run build',
    'npm run check:floor',
    `npm run ship ${run}`,
  ];
  const places = steps.map((step) => text.indexOf(step));
  expect(places).not.toContain(-1);
  expect(places).toEqual([...places].sort((a, b) => a - b));
});
