import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { openMetrics } from '@liaozhai/telemetry/metrics';
import { afterAll, beforeAll, describe, expect, onTestFinished, rs, test } from '@rstest/core';
import { Hono } from 'hono';
import { buildFolder } from '../../src/model/build.ts';
import { newSigningKey, sha256Hex, signedJson } from '../../src/model/signing.ts';
import { createChannelFrom, sourceIn } from '../../src/operations/promoteFrom.ts';
import { activate } from '../../src/operations/switching.ts';
import { createToken, listTokens, revokeToken } from '../../src/operations/tokens.ts';
import { httpClient } from '../../src/releaseClient.ts';
import { openGate, openTestStore, writeRemote } from '../../src/testing/openTestStore.ts';
import { createApi, withoutFolders } from './api.ts';
import { ConsoleContext, type ConsoleCounters, consoleCounters } from './ConsoleContext.ts';
import { pageFiles } from './startConsole.ts';

const GRANTS = ['viewer', 'publisher:stories', 'deployer:stories', 'deployer:chat', 'manager'];

/** The API over a temporary test store, without a browser check; `createOwn` makes another over the same store. */
async function openTestApi() {
  const at = await openTestStore();
  const { store, key, writer } = at;
  const context = { store, catalog: writer.catalog, key, channel: 'production', smokeFor: async () => null };
  const createOwn = (more: { counters?: ConsoleCounters; publicOrigin?: string } = {}) =>
    createApi(new ConsoleContext({ ...context, ...more }));
  const tokens: Record<string, string> = {};
  for (const grant of GRANTS)
    tokens[grant] = (await createToken(store, key, { grant, label: grant, by: 'test', days: null })).token;
  const bearer = (grant: string) => ({ authorization: `Bearer ${tokens[grant]}` });
  return { at, api: createOwn(), createOwn, tokens, bearer };
}

const server = await openTestApi();
const { at, api, tokens, bearer } = server;
afterAll(() => at.remove());

let storiesNext: string;
let chatNext: string;

beforeAll(async () => {
  await at.activate(await at.host(), await at.remote('stories'), await at.remote('chat'));
  storiesNext = await at.remote('stories', '1.1.0');
  chatNext = await at.remote('chat', '1.1.0');
});

const ask = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  api.request(path, { ...init, headers });
const post = async (grant: string, verb: string, body: unknown) =>
  api.request(`/${verb}`, {
    method: 'POST',
    headers: { ...bearer(grant), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const seqNow = async () => (await at.current()).seq;

describe('promoting from another channel', () => {
  test('is a manager’s as a whole, and a deployer’s for the own remote', async () => {
    const preview = { ...at.writer, channel: 'preview' };
    await createChannelFrom(preview, sourceIn(at.writer, 'production'));
    await activate(preview, [storiesNext, chatNext], { gate: openGate });
    expect((await post('viewer', 'promote', { from: 'preview' })).status).toBe(403);
    expect((await post('deployer:stories', 'promote', { from: 'preview', name: 'chat' })).status).toBe(403);
    expect((await post('deployer:stories', 'promote', { from: 'preview', force: true })).status).toBe(403);
    expect((await post('manager', 'promote', { from: 'nowhere' })).status).toBe(422);
    const before = (await at.current()).stable?.builds ?? [];
    const answer = await post('deployer:stories', 'promote', { from: 'preview', why: 'tried' });
    expect(await answer.json()).toMatchObject({ changed: true, loggedThere: true });
    const now = (await at.current()).stable?.builds;
    expect(now).toContain(storiesNext);
    expect(now).not.toContain(chatNext);
    const hotfix = await at.remote('chat', '1.0.1');
    await activate(at.writer, [hotfix], { gate: openGate });
    const refused = await post('manager', 'promote', { from: 'preview' });
    const reason = { kind: 'takenBack', from: 'preview', builds: [{ build: hotfix, to: chatNext }] };
    expect([refused.status, (await refused.json()).reason]).toEqual([422, reason]);
    await activate(at.writer, before, { gate: openGate });
  });
});

describe('previews from dev servers', () => {
  const request = `stories@http://localhost:3101 ${'d'.repeat(32)}`;
  const body = { request, person: 'Li Hua', hours: 1, why: 'new list' };

  test('are a manager’s to open and to end, and name both in the log', async () => {
    for (const grant of GRANTS.filter((each) => each !== 'manager'))
      expect((await post(grant, 'preview', body)).status).toBe(403);
    expect((await post('manager', 'preview', body)).status).toBe(200);
    const list = await (await ask('/previews', bearer('viewer'))).json();
    expect(list).toMatchObject([{ person: 'Li Hua', remotes: ['stories@http://localhost:3101'] }]);
    const [entry] = await (await ask('/log?limit=1', bearer('viewer'))).json();
    expect(entry).toMatchObject({ verb: 'preview', who: expect.stringMatching(/^manager \(/), why: 'new list' });
    expect((await post('deployer:stories', 'preview-end', { browser: 'd'.repeat(32) })).status).toBe(403);
    expect((await post('manager', 'preview-end', { browser: 'd'.repeat(32) })).status).toBe(200);
    expect(await (await ask('/previews', bearer('viewer'))).json()).toEqual([]);
  });

  test('of a far origin without https are a wrong request', async () => {
    const wrong = { ...body, request: request.replace('localhost', 'evil.example') };
    expect((await post('manager', 'preview', wrong)).status).toBe(400);
  });
});

describe('sec.releases: who gets in', () => {
  test('nobody without a token, with a wrong one, or with a cookie', async () => {
    const wrong = [
      {},
      { authorization: 'Bearer x' },
      { authorization: `Basic ${tokens.manager}` },
      { cookie: `token=${tokens.manager}` },
      { authorization: `Bearer ${tokens.manager}x` },
    ];
    for (const headers of wrong) expect((await ask('/status', headers as Record<string, string>)).status).toBe(401);
    expect((await ask(`/status?token=${tokens.manager}`)).status).toBe(401);
  });

  test('no page of another origin, even with a token, and no cross-origin answer is granted', async () => {
    const headers = { ...bearer('manager'), origin: 'http://localhost:3000', host: 'localhost:3001' };
    const answer = await ask('http://localhost:3001/status', headers);
    expect(answer.status).toBe(403);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    const preflight = await ask(
      'http://localhost:3001/activate',
      { ...headers, 'access-control-request-method': 'POST' },
      { method: 'OPTIONS' },
    );
    expect(preflight.ok).toBe(false);
  });

  test('no longer who was revoked or has expired', async () => {
    const { token, record } = await createToken(at.store, at.key, { grant: 'viewer', label: '', by: 'test', days: 1 });
    expect((await ask('/status', { authorization: `Bearer ${token}` })).status).toBe(200);
    await revokeToken(at.store, at.key, record.id);
    expect((await ask('/status', { authorization: `Bearer ${token}` })).status).toBe(401);
    const old = await createToken(at.store, at.key, { grant: 'viewer', label: '', by: 'test', days: -1 });
    expect((await ask('/status', { authorization: `Bearer ${old.token}` })).status).toBe(401);
    // created on a machine whose clock is two days behind
    rs.useFakeTimers({ toFake: ['Date'], now: Date.now() - 2 * 86_400_000 });
    const made = await createToken(at.store, at.key, { grant: 'viewer', label: '', by: 'test', days: 1 });
    rs.useRealTimers();
    expect((await ask('/status', { authorization: `Bearer ${made.token}` })).status).toBe(200);
  });

  test('secrets are stored as hashes only', async () => {
    const files = await at.store.list('tokens/');
    const stored = await Promise.all(files.map((file) => readFile(join(at.folder, 'store', file), 'utf8')));
    // `lz_<id>_<secret>`; a secret may contain underscores
    for (const token of Object.values(tokens)) expect(stored.join()).not.toContain(token.split('_').slice(2).join('_'));
  });

  describe("nobody whose record the store's key did not sign", () => {
    const secret = 'x'.repeat(43);
    const record = (parts: object) => ({
      hash: sha256Hex(secret),
      role: 'manager',
      name: null,
      label: 'forged',
      at: new Date().toISOString(),
      by: 'nobody',
      expires: null,
      revoked: null,
      ...parts,
    });
    const rollbackAs = (id: string, own = secret) =>
      api.request('/rollback', {
        method: 'POST',
        headers: { authorization: `Bearer lz_${id}_${own}`, 'content-type': 'application/json' },
        body: '{}',
      });

    test.each([
      ['unsigned, as they were before', 'aaaaaaaaaaaa', (id: string) => JSON.stringify(record({ id }))],
      ['signed by another key', 'bbbbbbbbbbbb', (id: string) => signedJson(record({ id }), newSigningKey())],
    ])('%s, and the answer says how to get a new one', async (_, id, make) => {
      const { seq } = await at.current();
      await at.store.swapPointer(`tokens/${id}.json`, make(id), null);
      const answer = await rollbackAs(id);
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({
        message: expect.stringContaining('not signed'),
        cure: expect.stringContaining('token create'),
      });
      expect((await at.current()).seq).toBe(seq);
      const listed = (await listTokens(at.store, at.key.publicKey)).find((token) => token.id === id);
      expect(listed?.problem).toContain('not signed');
      expect((await revokeToken(at.store, at.key, id)).revoked).not.toBeNull();
    });

    test('a role raised by hand, and the record of a revoked token under another id', async () => {
      const { token, record: viewer } = await createToken(at.store, at.key, {
        grant: 'viewer',
        label: '',
        by: 'test',
        days: null,
      });
      const own = token.slice('lz_aaaaaaaaaaaa_'.length);
      const pointer = await at.store.readPointer(`tokens/${viewer.id}.json`);
      const other = 'cccccccccccc';
      await at.store.swapPointer(`tokens/${other}.json`, pointer?.body ?? '', null);
      expect((await rollbackAs(other, own)).status).toBe(401);
      const raised = pointer?.body.replace('"viewer"', '"manager"') ?? '';
      await at.store.swapPointer(`tokens/${viewer.id}.json`, raised, pointer?.tag ?? '');
      expect((await rollbackAs(viewer.id, own)).status).toBe(401);
    });

    test('a damaged record opens nothing and hides no other', async () => {
      await at.store.swapPointer('tokens/dddddddddddd.json', '{', null);
      expect((await rollbackAs('dddddddddddd')).status).toBe(401);
      const listed = await listTokens(at.store, at.key.publicKey);
      expect(listed.length).toBeGreaterThan(GRANTS.length);
      const problem = 'tokens/dddddddddddd.json is damaged: refused';
      expect(listed.find(({ id }) => id === 'dddddddddddd')).toEqual({ id: 'dddddddddddd', problem });
      await expect(revokeToken(at.store, at.key, 'dddddddddddd')).rejects.toMatchObject({
        message: expect.stringContaining('tokens/dddddddddddd.json is damaged'),
        cure: expect.stringContaining('Restore it'),
      });
    });
  });

  test('who guesses is slowed down', async () => {
    const own = server.createOwn();
    const statuses: number[] = [];
    for (let n = 0; n < 32; n += 1)
      statuses.push((await own.request('/status', { headers: { authorization: 'Bearer x' } })).status);
    expect(statuses.slice(0, 30)).not.toContain(429);
    expect(statuses.slice(30)).toEqual([429, 429]);
  });
});

describe('sec.releases: who may do what', () => {
  const wishes: [string, () => unknown, Record<string, number>][] = [
    [
      'check',
      () => ({ builds: [storiesNext] }),
      { viewer: 403, 'publisher:stories': 200, 'deployer:stories': 200, 'deployer:chat': 403, manager: 200 },
    ],
    [
      'activate',
      () => ({ builds: [storiesNext] }),
      { viewer: 403, 'publisher:stories': 403, 'deployer:stories': 200, 'deployer:chat': 403, manager: 200 },
    ],
    [
      'activate',
      () => ({ builds: [storiesNext, chatNext] }),
      { viewer: 403, 'publisher:stories': 403, 'deployer:stories': 403, 'deployer:chat': 403, manager: 200 },
    ],
    [
      'rollback',
      () => ({ name: 'stories' }),
      { viewer: 403, 'publisher:stories': 403, 'deployer:chat': 403, 'deployer:stories': 200 },
    ],
    ['rollback', () => ({}), { viewer: 403, 'publisher:stories': 403, 'deployer:stories': 403, 'deployer:chat': 403 }],
    ['rollback', () => ({ to: 2 }), { viewer: 403, 'deployer:stories': 403, manager: 200 }],
    [
      'canary',
      () => ({ builds: [storiesNext], percent: 5 }),
      { viewer: 403, 'publisher:stories': 403, 'deployer:chat': 403, 'deployer:stories': 200 },
    ],
    ['canary', () => ({ builds: [chatNext], percent: 5 }), { 'deployer:stories': 403, 'deployer:chat': 200 }],
    ['canary', () => ({ percent: 7 }), { 'deployer:chat': 200, 'deployer:stories': 200, manager: 422 }],
    ['promote', () => ({}), { viewer: 403, 'publisher:stories': 403, manager: 422 }],
    ['promote', () => ({ name: 'stories' }), { 'deployer:chat': 403 }],
    ['abort', () => ({ name: 'stories' }), { 'deployer:chat': 403 }],
    ['abort', () => ({}), { viewer: 403, 'publisher:stories': 403, 'deployer:chat': 200, 'deployer:stories': 200 }],
    ['activate', () => ({ builds: [storiesNext], force: true, why: 'x' }), { 'deployer:stories': 403 }],
    [
      'override',
      () => ({ builds: [storiesNext], hours: 1 }),
      { viewer: 403, 'publisher:stories': 403, 'deployer:chat': 403, 'deployer:stories': 200, manager: 200 },
    ],
    [
      'withdraw',
      () => ({ name: 'stories', confirm: 'stories' }),
      { viewer: 403, 'publisher:stories': 403, 'deployer:chat': 403, 'deployer:stories': 200 },
    ],
    ['rollback', () => ({ name: 'stories' }), { 'deployer:stories': 200 }],
    [
      'kill',
      () => ({ build: storiesNext }),
      { viewer: 403, 'publisher:stories': 403, 'deployer:stories': 403, 'deployer:chat': 403 },
    ],
  ];
  test.each(wishes)('%s %#', async (verb, body, expected) => {
    for (const [grant, status] of Object.entries(expected)) {
      const before = await seqNow();
      expect([grant, (await post(grant, verb, body())).status]).toEqual([grant, status]);
      if (status === 403) expect(await seqNow()).toBe(before);
    }
  });

  test('a kill or a withdrawal shows its effect only to persons who may do it', async () => {
    const before = (verb: string) => `/kill?build=${encodeURIComponent(storiesNext)}&before=${verb}`;
    const statuses = (verb: string) =>
      Promise.all(GRANTS.map(async (grant) => [grant, (await ask(before(verb), bearer(grant))).status]));
    expect(Object.fromEntries(await statuses('kill'))).toMatchObject({
      viewer: 403,
      'deployer:stories': 403,
      manager: 200,
    });
    expect(Object.fromEntries(await statuses('withdraw'))).toMatchObject({
      viewer: 403,
      'deployer:chat': 403,
      'deployer:stories': 200,
      manager: 200,
    });
  });

  test('everyone with a token may look', async () => {
    for (const grant of GRANTS)
      for (const path of [
        '/status',
        '/builds',
        '/log',
        '/health',
        '/names',
        '/diff?a=1&b=stable',
        `/kill?build=${encodeURIComponent(storiesNext)}`,
      ])
        expect((await ask(path, bearer(grant))).status).toBe(200);
  });

  test('every change is attributed to its token, also where tokens share a label', async () => {
    const request = { grant: 'manager', label: 'local console', by: 'npm start', days: 7 };
    const { token, record } = await createToken(at.store, at.key, request);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'chat', why: 'leaked' });
    await post('manager', 'activate', { builds: [chatNext], why: 'because' });
    await api.request('/rollback', { method: 'POST', headers, body });
    const log = await (await ask('/log?limit=2', bearer('viewer'))).json();
    expect(log[0]).toMatchObject({ who: `local console (${record.id})`, why: 'leaked' });
    expect(log[1]).toMatchObject({ who: expect.stringMatching(/^manager \([0-9a-f]{12}\)$/), why: 'because' });
    // the log names the person that the token was made for; a line break would break the list of tokens
    const bot = await createToken(at.store, at.key, { ...request, label: ' ci\n7 ', person: ' Wang\nWu ' });
    expect(bot.record).toMatchObject({ label: 'ci 7', person: 'Wang Wu' });
    const authorization = `Bearer ${bot.token}`;
    expect(await (await ask('/me', { authorization })).json()).toMatchObject({ label: 'Wang Wu' });
    await api.request('/activate', {
      method: 'POST',
      headers: { ...headers, authorization },
      body: JSON.stringify({ builds: [chatNext] }),
    });
    const [newest] = await (await ask('/log?limit=1', bearer('viewer'))).json();
    expect(newest).toMatchObject({ who: `Wang Wu (${bot.record.id})` });
  });

  test('a change from an older state gets a 409', async () => {
    expect((await post('manager', 'rollback', { name: 'chat', seq: (await seqNow()) - 1 })).status).toBe(409);
  });

  test('a list is no body, even where every field is optional → 400', async () => {
    for (const verb of ['promote', 'abort', 'rollback']) expect((await post('manager', verb, [])).status).toBe(400);
  });

  test.each(['dist', './dist', 'remotes/gifts/dist', 'stories', 'chat@1.1', 'chat@1.1.0@2'])(
    '%s is reported as no build id, to a bound token too',
    async (word) => {
      for (const verb of ['check', 'activate', 'override', 'canary']) {
        const percent = verb === 'canary' ? { percent: 5 } : {};
        const answer = await post('deployer:stories', verb, { builds: [word], ...percent });
        expect([verb, answer.status, (await answer.json()).message]).toEqual([
          verb,
          400,
          `"${word}" is not a build id`,
        ]);
      }
    },
  );

  test.each([
    ['no body', ''],
    ['no JSON', '{'],
    ['an unknown field', '{"builds":["x@1.0.0"],"admin":true}'],
    ['a percentage beyond 100', '{"builds":[],"percent":101}'],
  ])('%s → 400, changing nothing', async (_, body) => {
    const before = await seqNow();
    const headers = { ...bearer('manager'), 'content-type': 'application/json' };
    expect((await api.request('/canary', { method: 'POST', headers, body })).status).toBe(400);
    expect(await seqNow()).toBe(before);
  });
});

test('where a way back leads is answered with success too where it leads nowhere', async () => {
  const own = await openTestApi();
  onTestFinished(() => own.at.remove());
  await own.at.activate(await own.at.host(), await own.at.remote('stories'));
  const before = async (name: string) => {
    const answer = await own.api.request(`/before?name=${name}`, { headers: own.bearer('viewer') });
    return [answer.status, await answer.json()];
  };
  const message = 'nothing else was live before for stories that could run again';
  expect(await before('stories')).toMatchObject([200, { refused: { message, details: [] } }]);
  await own.at.activate(await own.at.remote('stories', '1.1.0'));
  expect(await before('stories')).toEqual([200, { seq: 2 }]);
});

describe('sec.releases: publishing over HTTP', () => {
  test('a publisher publishes its own remote, and the audit knows it; over the wire like from here', async () => {
    const server = serve({
      fetch: (request) => api.fetch(new Request(request.url.replace('/v1/', '/'), request)),
      hostname: '127.0.0.1',
      port: 0,
    });
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const provenance = () => ({ commit: 'abc', at: '2000-01-01T00:00:00.000Z', publisher: 'liar' });
    const client = httpClient({ origin, token: tokens['publisher:stories'] ?? '', channel: 'production', provenance });
    const dist = await writeRemote(at.place(), 'stories', 'over http', {
      description: { exposes: ['./remote', './Ribbon'] },
      files: { '@mf-types/Ribbon.d.ts': 'export declare const loops: number;' },
    });
    expect(await client.publish(dist, '3.0.0')).toMatchObject({ created: true });
    expect(await client.publish(dist, '3.0.0')).toMatchObject({ created: false });
    const [build] = await client.builds('stories');
    expect(build?.provenance).toMatchObject({
      publisher: expect.stringMatching(/^publisher:stories \([0-9a-f]{12}\)$/),
      commit: 'abc',
    });
    expect(await client.types('stories@3.0.0')).toEqual({
      id: build?.id,
      files: { 'Ribbon.d.ts': 'export declare const loops: number;' },
    });
    const foreign = await writeRemote(at.place(), 'chat', 'over http');
    await expect(client.publish(foreign, '3.0.0')).rejects.toMatchObject({
      kind: 'forbidden',
      message: 'this token is for stories only',
    });
    await expect(client.activate({ builds: [build?.id ?? ''] })).rejects.toThrow('does not include `activate`');
    server.close();
  });

  const put = (path: string, body: string, grant = 'publisher:stories', headers: Record<string, string> = {}) =>
    api.request(path, { method: 'PUT', headers: { ...bearer(grant), ...headers }, body });
  const folder = 'stories/9.9.9-aaaaaaaaaaaa';

  test.each([
    ['climbing out', `/builds/${folder}/..%2f..%2fkeys%2fsigning.pem`],
    ['a % that escapes nothing', `/builds/${folder}/%zz.js`],
    ['climbing by dots', `/builds/${folder}/%2e%2e/x.js`],
    ['a hidden file', `/builds/${folder}/.env`],
    ['an unknown ending', `/builds/${folder}/x.sh2`],
    ['a compressed form', `/builds/${folder}/x.js.br`],
    ['an unknown folder', '/builds/stories/nonsense/x.js'],
  ])('%s is refused', async (_, path) => {
    const { status } = await put(path, 'x');
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(await at.store.list('keys/x')).toEqual([]);
    expect(await at.store.read(`builds/${folder}/.env`)).toBeNull();
  });

  test('another remote, by a publisher of this one or a viewer, is refused', async () => {
    expect((await put('/builds/chat/9.9.9-aaaaaaaaaaaa/x.js', 'x')).status).toBe(403);
    expect((await put(`/builds/${folder}/x.js`, 'x', 'viewer')).status).toBe(403);
  });

  test('a file that was cut off on the way is refused', async () => {
    expect(
      (await put(`/builds/${folder}/x.js`, 'short', 'publisher:stories', { 'content-length': '100' })).status,
    ).toBe(400);
  });

  test('a build.json that names files that never came, or came wrong, makes no build; sending them again does', async () => {
    const id = await at.remote('stories', '5.0.0');
    const record = (await at.store.read(`${buildFolder(id)}/build.json`))?.toString() ?? '';
    const other = await openTestApi();
    const send = (path: string, body: string) =>
      other.api.request(`/${buildFolder(id)}/${path}`, {
        method: 'PUT',
        headers: other.bearer('manager'),
        body,
      });
    await send('remoteEntry.js', 'truncated');
    const refused = await send('build.json', record);
    expect(refused.status).toBe(422);
    expect((await refused.json()).details.join()).toContain('remoteEntry.js is not what build.json says');
    for (const path of Object.keys(JSON.parse(record).files))
      await send(path, (await at.store.read(`${buildFolder(id)}/${path}`))?.toString() ?? '');
    expect((await send('build.json', record)).status).toBe(200);
    expect((await send('build.json', record.replace('"size":', '"size": 1'))).status).toBe(422);
    await other.at.remove();
  });
});

describe('what is refused before a verb is asked', () => {
  const app = new Hono();
  beforeAll(async () => {
    await writeFile(`${at.folder}/index.html`, '<p>发布台</p>');
    app.route('/v1', server.createOwn());
    app.route('/', await pageFiles(at.folder));
  });

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
    ['an unknown path of the API', 404, '/v1/nonsense', {}, /no such endpoint/],
    ['an unknown path of the page', 404, '/nonsense', {}, /no such page/],
    ['something sent to the page', 405, '/', { method: 'POST', body: '{}' }, /can only be read/],
  ];
  test.each(refusals)('%s is refused with %s, in the shape of every refusal', async (_, status, path, init, said) => {
    const headers = { authorization: `Bearer ${tokens.manager}`, 'content-type': init.type ?? 'application/json' };
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

  test.each([
    ['GET', 200, null],
    ['HEAD', 200, null],
    ['OPTIONS', 204, 'GET, HEAD, OPTIONS'],
    ['PUT', 405, 'GET, HEAD, OPTIONS'],
  ])('the page answers %s with %s', async (method, status, allow) => {
    const answer = await app.request('/', { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([status, allow]);
  });
});

test('changes are counted by verb and by how they end', async () => {
  const metrics = await openMetrics({ METRICS_PORT: 0, METRICS_HOST: '127.0.0.1' });
  if (!metrics) throw new Error('no metrics');
  onTestFinished(() => metrics.close());
  const own = server.createOwn({ counters: consoleCounters(metrics) });
  const init = { method: 'POST', headers: { ...bearer('manager'), 'content-type': 'application/json' } };
  expect((await own.request('/check', { ...init, body: JSON.stringify({ builds: [storiesNext] }) })).status).toBe(200);
  const body = JSON.stringify({ builds: ['nobody@1.0.0+000000000000'] });
  expect((await own.request('/activate?channel=made-up', { ...init, body })).status).toBe(422);
  expect((await own.request('/activate', { ...init, body })).status).toBe(422);
  const lines = (await (await fetch(metrics.url)).text()).split('\n');
  expect(lines).toContain('liaozhai_console_changes_total{verb="check",result="done"} 1');
  expect(lines).toContain('liaozhai_console_changes_total{verb="activate",result="refused"} 1');
});

test('behind a proxy that keeps its own host, the page at the public origin is the console’s own', async () => {
  const headers = { ...bearer('manager'), origin: 'https://console.example', host: '10.0.0.7:3001' };
  const behind = server.createOwn({ publicOrigin: 'https://console.example' });
  const statusOf = async (more: Record<string, string>) =>
    (await behind.request('http://10.0.0.7:3001/status', { headers: { ...headers, ...more } })).status;
  expect([await statusOf({}), await statusOf({ origin: 'https://evil.example' })]).toEqual([200, 403]);
});

const storeLabel = 'file:/srv/releases';
test.each([
  ['chat@1.4.0+aaaaaaaaaaaa is not in file:/srv/releases', 'chat@1.4.0+aaaaaaaaaaaa is not in the store'],
  [
    "ENOENT: no such file or directory, open '/srv/releases/builds/chat/build.json'",
    "ENOENT: no such file or directory, open 'the store'",
  ],
  [`ENOSPC: no space left, write ${tmpdir()}/liaozhai-x`, 'ENOSPC: no space left, write the store'],
  [`the browser of ${process.cwd()}/node_modules did not start`, 'the browser of the store did not start'],
  ['routes: /explore and /story/:id are claimed twice', 'routes: /explore and /story/:id are claimed twice'],
  [
    '/builds/chat/1.4.0-aaaaaaaaaaaa/remoteEntry.js answers 404',
    '/builds/chat/1.4.0-aaaaaaaaaaaa/remoteEntry.js answers 404',
  ],
  ['/srv/releases-of-others is not ours to hide', '/srv/releases-of-others is not ours to hide'],
])('a refusal keeps its words, and loses the folders of the server: %s', (text, shown) => {
  expect(withoutFolders(text, { label: storeLabel })).toBe(shown);
});

test('a bucket goes by no name either', () => {
  expect(withoutFolders('s3://team/app: 503 slow down', { label: 's3://team/app' })).toBe('the store: 503 slow down');
});
