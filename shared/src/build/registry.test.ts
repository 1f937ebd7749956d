import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@rstest/core';
import { registeredRemotes } from './registry.ts';

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'registry-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const gifts = { name: 'gifts', label: '礼物', owner: 'gifts team', devPort: 3105 };

test.each<[string, string]>([
  ['is not valid JSON', `[${JSON.stringify(gifts)},]`],
  ['it must be a list of remotes', '{}'],
  ['0.name must be', '[null]'],
  ['0.name must be', '[{"nmae":"gifts"}]'],
  ['0.name must be', JSON.stringify([{ ...gifts, name: 'Gifts' }])],
  ['1.label must be a text', JSON.stringify([gifts, { ...gifts, name: 'shop', label: ' ' }])],
  ['0.owner must be a text', JSON.stringify([{ ...gifts, owner: undefined }])],
  ['0.devPort must be a port', JSON.stringify([{ ...gifts, devPort: '3105' }])],
  ['"gifts" is there twice', JSON.stringify([gifts, gifts])],
])('remotes.json: %s', (problem, content) => {
  writeFileSync(join(root, 'remotes.json'), content);
  expect(() => registeredRemotes(root)).toThrow(problem);
  expect(() => registeredRemotes(root)).toThrow(/^remotes\.json: .*: correct it/);
});

test('a list that is right is read', () => {
  writeFileSync(join(root, 'remotes.json'), JSON.stringify([gifts]));
  expect(registeredRemotes(root)).toEqual([gifts]);
  rmSync(join(root, 'remotes.json'));
  expect(() => registeredRemotes(root)).toThrow('remotes.json');
});
