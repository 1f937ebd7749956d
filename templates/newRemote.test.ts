import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { createRemote, createRepository } from './newRemote.ts';

const templates = dirname(fileURLToPath(import.meta.url));
let root = '';

const registered = () =>
  JSON.parse(readFileSync(join(root, 'remotes.json'), 'utf8')) as { name: string; devPort: number }[];
const read = (path: string) => readFileSync(join(root, 'remotes', path), 'utf8');

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'new-remote-'));
  mkdirSync(join(root, 'remotes/stories'), { recursive: true });
  const stories = { name: 'stories', label: '故事', owner: 'stories team', devPort: 3101 };
  writeFileSync(join(root, 'remotes.json'), JSON.stringify([stories]));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('a new remote', () => {
  test('is laid out like every other and carries its own name throughout', () => {
    createRemote({ root, name: 'gifts', label: '礼物' });
    expect(readdirSync(join(root, 'remotes/gifts')).sort()).toEqual([
      'README.md',
      'gate.json',
      'package.json',
      'rsbuild.config.ts',
      'src',
    ]);
    expect(readdirSync(join(root, 'remotes/gifts/src/pages')).sort()).toEqual([
      'GiftsListPage.module.css',
      'GiftsListPage.test.tsx',
      'GiftsListPage.tsx',
    ]);
    expect(read('gifts/rsbuild.config.ts')).toContain("remoteConfig('gifts')");
    expect(read('gifts/src/remote.ts')).toContain("name: 'gifts'");
    expect(read('gifts/src/routes.tsx')).toContain("path: '/gifts'");
    expect(read('gifts/src/texts.ts')).toContain("title: '礼物'");
    expect(JSON.parse(read('gifts/package.json')).name).toBe('@liaozhai/gifts');
  });

  test('keeps nothing of the template, neither in texts nor in file names', () => {
    createRemote({ root, name: 'gifts', label: '礼物' });
    const files = readdirSync(join(root, 'remotes/gifts'), { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const text = `${file.name} ${readFileSync(join(file.parentPath, file.name), 'utf8')}`;
      expect(text).not.toMatch(/sample|样例/i);
    }
  });

  test('is registered behind the others with the first free port', () => {
    createRemote({ root, name: 'gifts', label: '礼物' });
    createRemote({ root, name: 'clubs', label: '书社' });
    expect(registered().map(({ name, devPort }) => `${name} ${devPort}`)).toEqual([
      'stories 3101',
      'gifts 3102',
      'clubs 3103',
    ]);
  });
});

describe('refused, with nothing written', () => {
  const refused: [why: string, name: string, label: string, message: RegExp][] = [
    ['capitals', 'Gifts', '礼物', /small letters/],
    ['a hyphen, which no JavaScript variable may have', 'my-gifts', '礼物', /small letters/],
    ['a path', '../gifts', '礼物', /small letters/],
    ['a leading digit', '2gifts', '礼物', /letter first/],
    ['a path of the product', 'explore', '发现', /taken by the product/],
    ['a path of the product that is linked at its foot', 'terms', '条款', /taken by the product/],
    ['a path that the host serves itself', 'email', '邮件', /taken by the product/],
    ['a name that publishing refuses', 'constructor', '构造', /taken by the product/],
    ['the name of the template', 'sample', '样例', /taken by the product/],
    ['a registered name', 'stories', '故事', /remotes\.json knows "stories"/],
    ['an empty label', 'gifts', '', /cannot be the label/],
    ['a label that would break out of its quotes', 'gifts', "礼'物", /cannot be the label/],
  ];
  test.each(refused)('%s', (_why, name, label, message) => {
    expect(() => createRemote({ root, name, label })).toThrow(message);
    expect(readdirSync(join(root, 'remotes'))).toEqual(['stories']);
    expect(registered()).toHaveLength(1);
  });

  test('a folder that is in the way', () => {
    mkdirSync(join(root, 'remotes/gifts'));
    expect(() => createRemote({ root, name: 'gifts', label: '礼物' })).toThrow(/remotes\/gifts exists already/);
    expect(registered()).toHaveLength(1);
  });
});

test('the command says how it is called, and refuses with the reason on one line', () => {
  const run = (...words: string[]) =>
    spawnSync(process.execPath, ['host/server/run.mjs', 'templates/newRemote.ts', ...words], { encoding: 'utf8' });
  const alone = run('gifts');
  expect(alone.status).toBe(2);
  expect(alone.stderr).toContain('usage: pnpm new-remote <name> <label>');
  const taken = run('stories', '故事');
  expect(taken.status).toBe(1);
  expect(taken.stderr.trim().split('\n')).toHaveLength(1);
});

describe('a repository of its own is refused, with nothing written', () => {
  const refused: [why: string, given: Partial<Parameters<typeof createRepository>[0]>, message: RegExp][] = [
    ['a name that cannot be a remote', { name: 'my-gifts' }, /small letters/],
    ['a label that nobody can read', { label: '' }, /cannot be the label/],
    ['a folder that has something in it', { folder: join(templates, 'remote') }, /is not an empty folder/],
    ['a file in the place of the folder', { folder: 'templates/newRemote.ts' }, /is not an empty folder/],
    ['a bundler that is not known', { bundler: 'parcel' }, /use rsbuild, webpack, vite/],
    ['a folder without the packages', { packages: join(templates, 'remote') }, /has no liaozhai-runtime/],
    ['packages that are not there', { packages: join(templates, 'none') }, /has no liaozhai-runtime/],
    ['one package in the place of their folder', { packages: 'templates/newRemote.ts' }, /name the folder/],
  ];
  test.each(refused)('%s', (_why, given, message) => {
    const folder = join(root, 'gifts');
    expect(() => createRepository({ folder, name: 'gifts', label: '礼物', ...given })).toThrow(message);
    expect(readdirSync(root).sort()).toEqual(['remotes', 'remotes.json']);
  });
});
