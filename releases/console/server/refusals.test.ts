import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, rs, test } from '@rstest/core';
import { Hono } from 'hono';
import { createToken } from '../../src/operations/tokens.ts';
import { openTestStore, type TestStore } from '../../src/testing/openTestStore.ts';
import { createApi } from './api.ts';
import { ConsoleContext } from './ConsoleContext.ts';
import { pageFiles } from './pageFiles.ts';

// every test works on a store of its own and waits for its disk
rs.setConfig({ testTimeout: 60_000 });

let at: TestStore;
let token: string;
/** The whole console: the API and its page. */
const app = new Hono();

beforeAll(async () => {
  at = await openTestStore();
  await writeFile(`${at.folder}/index.html`, '<p>发布台</p>');
  token = (await createToken(at.store, { grant: 'manager', label: '', by: 'test', days: null })).token;
  const { store, key, writer } = at;
  const options = { store, catalog: writer.catalog, key, channel: 'production', smokeFor: async () => null };
  app.route('/v1', createApi(new ConsoleContext(options)));
  app.route('/', await pageFiles(at.folder));
});
afterAll(() => at.remove());

const refusals: [string, number, string, RequestInit & { type?: string }, RegExp][] = [
  ['a long request', 413, '/v1/abort', { method: 'POST', body: `{"why":"${'x'.repeat(70_000)}"}` }, /64 KiB/],
  [
    'a large file',
    413,
    '/v1/builds/stories/9.9.9-aaaaaaaaaaaa/big.js',
    { method: 'PUT', body: 'x'.repeat(10 * 1024 * 1024 + 1) },
    /10240 KiB/,
  ],
  ['a form of a foreign page', 415, '/v1/abort', { method: 'POST', body: '{}', type: 'text/plain' }, /JSON/],
  ['a path of the API that is none', 404, '/v1/nonsense', {}, /no such endpoint/],
  ['a path of the page that is none', 404, '/nonsense', {}, /no such page/],
  ['something sent to the page', 404, '/', { method: 'POST', body: '{}' }, /no such page/],
];
test.each(refusals)('%s is refused with %s, in the shape of every refusal', async (_, status, path, init, said) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': init.type ?? 'application/json' };
  const answer = await app.request(path, { ...init, headers });
  expect(answer.status).toBe(status);
  expect(await answer.json()).toEqual({
    message: expect.stringMatching(said),
    cure: expect.stringMatching(/\w/),
    details: [],
  });
});

test('the page is there', async () => {
  expect(await (await app.request('/')).text()).toContain('发布台');
});
