import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from '@rstest/core';
import { outsideFacts, sourceHash } from './facts.ts';

const root = mkdtempSync(join(tmpdir(), 'liaozhai-facts-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const hash = () => sourceHash(root, [join(root, 'src')]);

test.each([
  ['a page', 'src/pages/Page.tsx', true],
  ['a style', 'src/pages/Page.module.css', true],
  ['a page whose name begins like a helper', 'src/pages/testingGround.tsx', true],
  ['a test', 'src/pages/Page.test.tsx', false],
  ['what helps tests', 'src/testing/openHost.tsx', false],
  ['fixtures', 'src/fixtures.ts', false],
  ['a fixture of one test', 'src/session/sessionFixture.ts', false],
  ['a document', 'src/README.md', false],
])('%s enters the hash: %s %s', (_, path, enters) => {
  write('src/index.ts', 'export {};');
  write(path, 'before');
  const before = hash();
  write(path, 'after');
  expect(hash() !== before).toBe(enters);
});

test.each([
  ['an .env file', 'remote/.env'],
  ['a library of the monorepo', 'libraries/kite/dist/index.js'],
  ['a library of that library', 'libraries/string/src/index.js'],
])('a change of %s alone results in a build with other names', (_, path) => {
  const library = (name: string, dependencies: Record<string, string>) =>
    write(`${name}/package.json`, JSON.stringify({ name, version: '1.0.0', dependencies }));
  const link = (from: string, name: string) => {
    mkdirSync(join(root, from, 'node_modules'), { recursive: true });
    rmSync(join(root, from, 'node_modules', name), { force: true });
    symlinkSync(join(root, 'libraries', name), join(root, from, 'node_modules', name));
  };
  library('remote', { kite: '*' });
  library('libraries/kite', { string: '*' });
  library('libraries/string', {});
  write('remote/src/index.ts', 'export {};');
  link('remote', 'kite');
  link('libraries/kite', 'string');
  const facts = () => outsideFacts(join(root, 'remote')).sourceHash;
  write(path, 'before');
  const before = facts();
  expect(facts()).toBe(before);
  write(path, 'after');
  expect(facts()).not.toBe(before);
});
