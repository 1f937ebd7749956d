import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@rstest/core';
import { disagreements, foreignSources, installedPackages, secretsIn } from './supply.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Packages whose install script `pnpm-workspace.yaml` allows or denies. */
const scriptsAnswered = () => {
  const [, block = ''] = read('pnpm-workspace.yaml').split('permissions:');
  const answers = block.matchAll(/^ {2}"?([@\w/-]+)"?:\n {4}build: (true|false)$/gm);
  return new Map([...answers].map(([, name = '', yes]) => [name, yes]));
};

describe('sec.supply: the check itself', () => {
  test.each([
    '    resolution: {tarball: https://example.org/a.tgz}',
    '    resolution: {integrity: sha512-abc=, tarball: https://example.org/a.tgz}',
    '    resolution: {commit: 0123, repo: git@example.org/a.git, type: git}',
    '    resolution: {integrity: sha1-abc=}',
    '      specifier: github:someone/a',
  ])('refuses %s', (line) => expect(foreignSources(line)).toEqual([line.trim()]));

  test('refuses a licence off the list and an install script nobody answered for', () => {
    const package_ = { name: 'a', license: 'AGPL-3.0', scripts: { postinstall: 'node x.js' } };
    expect(disagreements(package_, new Set())).toEqual(['a: licence AGPL-3.0', 'a: postinstall script']);
  });

  test('knows secrets by their form', () => {
    expect(secretsIn(`const key = "-----BEGIN ${'PRIVATE'} KEY-----"`)).toHaveLength(1);
    expect(secretsIn('const key = process.env.AI_API_KEY')).toEqual(['AI_API_KEY']);
    expect(secretsIn('const password = field.value')).toEqual([]);
  });
});

test('sec.supply: the lockfile takes everything from the registry, with hashes', () => {
  const lockfile = read('pnpm-lock.yaml');
  expect(lockfile.match(/resolution: \{integrity: sha512-/g)?.length).toBeGreaterThan(100);
  expect(foreignSources(lockfile)).toEqual([]);
});

test('sec.supply: every package has a licence of the list and runs nothing when installed', () => {
  const answered = scriptsAnswered();
  expect([...answered.values()]).not.toContain('true');
  const names = new Set(answered.keys());
  const installed = [...installedPackages(join(root, 'node_modules/.pnpm'))];
  expect(installed.length).toBeGreaterThan(100);
  expect(installed.flatMap((manifest) => disagreements(manifest, names))).toEqual([]);
});

test('sec.supply: no source that browsers get carries or names a secret', () => {
  const folders = [
    'host/src',
    'shared/src',
    ...readdirSync(join(root, 'remotes')).map((name) => `remotes/${name}/src`),
  ];
  const files = folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((path) => /\.(tsx?|css|json)$/.test(path));
  expect(files.length).toBeGreaterThan(100);
  expect(files.flatMap((path) => secretsIn(read(path)).map((secret) => `${path}: ${secret}`))).toEqual([]);
});
