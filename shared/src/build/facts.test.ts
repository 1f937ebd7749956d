import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from '@rstest/core';
import { sourceHash } from './facts.ts';

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
