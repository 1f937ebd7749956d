import { readFile } from 'node:fs/promises';
import { expect, test } from '@rstest/core';
import { BODIES, parseBody } from './requests.ts';

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');

/** Verbs of the README's table, with the fields that their row documents. */
const documented = readme
  .split('\n')
  .filter((line) => line.startsWith('| `POST /v1/'))
  .flatMap((line) => {
    const [, endpoints = '', does = ''] = line.split('|');
    const fields = (/\{([^}]*)\}/.exec(does)?.[1] ?? '').match(/\w+/g) ?? [];
    return [...endpoints.matchAll(/\/v1\/([\w-]+)/g)].map(([, verb = '']) => ({ verb, fields }));
  });

test.each(documented)('the README documents no field of $verb that it refuses', ({ verb, fields }) => {
  const [, , schema] = BODIES[verb as keyof typeof BODIES].pipe;
  // a row of two verbs lists the fields of both
  expect(fields.filter((field) => !(field in schema.entries))).toEqual([]);
});

test('the README documents every verb', () => {
  expect(documented.map(({ verb }) => verb).sort()).toEqual(Object.keys(BODIES).sort());
});

test.each([
  ['canary', { builds: [], percent: 101 }],
  ['approval', { hours: 169 }],
  ['override', { builds: ['stories@1.4.2'], hours: 169 }],
  ['preview', { request: 'stories@http://localhost:3101', person: 'Li Hua', hours: 169 }],
] as const)('a share or a time beyond its limit is refused: %s %j', (verb, body) => {
  expect(() => parseBody(verb, body)).toThrow(/percent|hours/);
});
