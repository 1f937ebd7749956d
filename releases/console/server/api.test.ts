import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, rs, test } from '@rstest/core';
import { createToken, revokeToken } from '../../src/operations/tokens.ts';
import { GRANTS, openTestApi } from './testApi.ts';

// every test works on a store of its own and waits for its disk
rs.setConfig({ testTimeout: 60_000 });

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
    const { token, record } = await createToken(at.store, { grant: 'viewer', label: '', by: 'test', days: 1 });
    expect((await ask('/status', { authorization: `Bearer ${token}` })).status).toBe(200);
    await revokeToken(at.store, record.id);
    expect((await ask('/status', { authorization: `Bearer ${token}` })).status).toBe(401);
    const old = await createToken(at.store, { grant: 'viewer', label: '', by: 'test', days: -1 });
    expect((await ask('/status', { authorization: `Bearer ${old.token}` })).status).toBe(401);
  });

  test('secrets are stored as hashes only', async () => {
    const files = await at.store.list('tokens/');
    const stored = await Promise.all(files.map((file) => readFile(join(at.folder, 'store', file), 'utf8')));
    // lz_<id>_<secret>, and a secret may have underscores of its own
    for (const token of Object.values(tokens)) expect(stored.join()).not.toContain(token.split('_').slice(2).join('_'));
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
    ['canary', () => ({ builds: [chatNext], percent: 5 }), { 'deployer:chat': 403 }],
    ['canary', () => ({ percent: 7 }), { 'deployer:chat': 403, 'deployer:stories': 200 }],
    ['promote', () => ({}), { viewer: 403, 'publisher:stories': 403, 'deployer:chat': 403 }],
    ['abort', () => ({}), { viewer: 403, 'publisher:stories': 403, 'deployer:chat': 403, 'deployer:stories': 200 }],
    ['activate', () => ({ builds: [storiesNext], force: true, why: 'x' }), { 'deployer:stories': 403 }],
    [
      'override',
      () => ({ builds: [storiesNext], hours: 1 }),
      { viewer: 403, 'publisher:stories': 403, 'deployer:chat': 403, 'deployer:stories': 200, manager: 200 },
    ],
    [
      'kill',
      () => ({ build: storiesNext }),
      { viewer: 403, 'publisher:stories': 403, 'deployer:stories': 403, 'deployer:chat': 403 },
    ],
  ];
  test.each(wishes)(
    '%s %#',
    async (verb, body, expected) => {
      for (const [grant, status] of Object.entries(expected)) {
        const before = await seqNow();
        expect([grant, (await post(grant, verb, body())).status]).toEqual([grant, status]);
        if (status === 403) expect(await seqNow()).toBe(before);
      }
    },
    20_000,
  );

  test('everyone with a token may look', async () => {
    for (const grant of GRANTS)
      for (const path of ['/status', '/builds', '/log', '/health', '/names', '/diff?a=1&b=stable'])
        expect((await ask(path, bearer(grant))).status).toBe(200);
  });

  test('every change is attributed to its token, also where tokens share a label', async () => {
    const request = { grant: 'manager', label: 'local console', by: 'npm start', days: 7 };
    const { token, record } = await createToken(at.store, request);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'chat', why: 'leaked' });
    await post('manager', 'activate', { builds: [chatNext], why: 'because' });
    await api.request('/rollback', { method: 'POST', headers, body });
    const log = await (await ask('/log?limit=2', bearer('viewer'))).json();
    expect(log[0]).toMatchObject({ who: `local console (${record.id})`, why: 'leaked' });
    expect(log[1]).toMatchObject({ who: expect.stringMatching(/^manager \([0-9a-f]{12}\)$/), why: 'because' });
  });

  test('who saw an older state is told, with 409', async () => {
    expect((await post('manager', 'rollback', { name: 'chat', seq: (await seqNow()) - 1 })).status).toBe(409);
  });

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
