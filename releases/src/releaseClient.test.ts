import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@rstest/core';
import { API_HEADER } from './errors.ts';
import { httpClient, type ReleaseClient } from './releaseClient.ts';

let server: Server;
afterEach(() => {
  server.close();
});

/** A client of a server that gives the same response to every request. */
async function clientOf(status: number, body: string, headers: Record<string, string> = {}) {
  server = createServer((_, response) => response.writeHead(status, headers).end(body)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provenance = () => ({ commit: null, at: '2026-01-01T00:00:00.000Z', publisher: 'tester' });
  return httpClient({ origin, token: 't', channel: 'production', provenance });
}

// response of consoles before the API level was introduced
const noEndpoint = JSON.stringify({ message: 'there is no such endpoint', cure: 'See "HTTP API".', details: [] });
const wrongBody = JSON.stringify({
  message: 'the body of activate is wrong: despiteFreeze',
  cure: 'See …',
  details: [],
});
const UPDATE = 'That console is older than this command line: update it.';

describe('a console that is older than the command line', () => {
  test('is named where it does not know a verb', async () => {
    const client = await clientOf(404, noEndpoint);
    await expect(client.approve({ id: '0ef9f4ad' })).rejects.toMatchObject({
      kind: 'refused',
      message: 'this console knows no `approve`',
      cure: UPDATE,
    });
  });

  test('is named where it does not know a field', async () => {
    const client = await clientOf(400, wrongBody);
    await expect(client.activate({ builds: ['a@1.0.0'], despiteFreeze: 'now' })).rejects.toMatchObject({
      kind: 'usage',
      message: 'the body of activate is wrong: despiteFreeze',
      cure: UPDATE,
    });
  });

  test('is named if it reports health in another form', async () => {
    const client = await clientOf(200, JSON.stringify({ candidate: null, groups: [] }));
    await expect(client.health()).rejects.toMatchObject({ kind: 'refused', cure: UPDATE });
  });
});

test('a console of the same level keeps its own words, and another server is not called a console', async () => {
  const same = await clientOf(404, noEndpoint, { [API_HEADER]: '2' });
  await expect(same.status()).rejects.toMatchObject({ kind: 'unreachable', cure: 'See "HTTP API".' });
  server.close();
  const other = await clientOf(404, '<h1>Not Found</h1>');
  await expect(other.status()).rejects.toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('is no console'),
    cure: expect.stringContaining("the console's address and not the site's"),
  });
});

const CALLS: [name: string, call: (client: ReleaseClient) => Promise<unknown>][] = [
  ['status', (client) => client.status()],
  ['builds', (client) => client.builds('stories')],
  ['types', (client) => client.types('stories')],
  ['log', (client) => client.log(5)],
  ['health', (client) => client.health()],
  ['diff', (client) => client.diff('1', '2')],
  ['compare', (client) => client.compare('1', '2')],
  ['check', (client) => client.check({ builds: [] })],
  ['activate', (client) => client.activate({ builds: ['stories@1.0.0'] })],
  ['rollback', (client) => client.rollback({})],
  ['webhook', (client) => client.webhook({ url: 'https://bot.example/hook' })],
  ['webhook-test', (client) => client['webhook-test']({ id: '0a1b2c3d4e5f' })],
  ['kill', (client) => client.killEffect('stories@1.0.0')],
  ['override', (client) => client.override({ builds: [], hours: 1 })],
  ['previews', (client) => client.previews()],
];

const changes = ['activate', 'rollback', 'webhook', 'webhook-test', 'override'];
const UNKNOWN = { kind: 'unreachable', cure: 'Look with `status` before you repeat it.' };

test.each(CALLS)('%s that something else answers is refused with its cure', async (verb, call) => {
  const page = await clientOf(200, '<!doctype html><title>Sign in to the network</title>');
  const isChange = changes.includes(verb);
  await expect(call(page)).rejects.toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('is no console'),
    cure: isChange ? UNKNOWN.cure : expect.stringContaining('--store'),
  });
  server.close();
  for (const body of ['{"ok":true}', '[7]', '{"document":null}']) {
    const other = await clientOf(200, body, { [API_HEADER]: '2' });
    await expect(call(other)).rejects.toMatchObject({
      kind: isChange ? 'unreachable' : 'refused',
      message: expect.stringContaining(`this console answers \`${verb}\` in another form`),
      cure: isChange ? UNKNOWN.cure : expect.stringContaining('Update'),
    });
    server.close();
  }
});

const rollback = (client: ReleaseClient) => client.rollback({ name: 'wallet' });

test.each([
  ['502 of a proxy', 502, '<h1>Bad Gateway</h1>', 'the console answered 502'],
  ['504 of a gateway with JSON', 504, '{"message":"Endpoint request timed out"}', 'Endpoint request timed out'],
  ['403 of a firewall', 403, '', 'the console answered 403'],
  ['half an answer', 200, '{"changed":true,"document":{"cha', 'is no console'],
])('%s does not say that a change failed', async (_, status, body, reason) => {
  const client = await clientOf(status, body);
  await expect(rollback(client)).rejects.toMatchObject({
    ...UNKNOWN,
    message: expect.stringMatching(new RegExp(`^it is not known whether \`rollback\` happened: .*${reason}`)),
  });
  await expect(client.status()).rejects.toMatchObject({ message: expect.not.stringContaining('not known') });
  await expect(client.check({ builds: [] })).rejects.toMatchObject({
    message: expect.not.stringContaining('not known'),
  });
});

test("the console's own refusal of a change, and a server that was never reached, say that nothing happened", async () => {
  const own = await clientOf(503, JSON.stringify({ message: 'the store is away', cure: 'Wait.', details: [] }));
  await expect(rollback(own)).rejects.toMatchObject({ kind: 'unreachable', message: 'the store is away' });
  server.close();
  server.closeAllConnections();
  await expect(rollback(own)).rejects.toMatchObject({
    message: expect.stringContaining('does not answer'),
    cure: expect.stringContaining('--store'),
  });
});

test.each([
  ['rollback', 60, rollback],
  ['activate', 290, (client: ReleaseClient) => client.activate({ builds: ['stories@1.0.0'] })],
])('%s without an answer ends after %i s, and may have happened', async (verb, seconds, call) => {
  const client = await clientOf(200, '');
  server.removeAllListeners('request').on('request', (request) => request.resume());
  const timeout = AbortSignal.timeout;
  // a thousand times as fast
  AbortSignal.timeout = (milliseconds) => timeout.call(AbortSignal, milliseconds / 1000);
  try {
    await expect(call(client)).rejects.toMatchObject({
      ...UNKNOWN,
      message: expect.stringMatching(
        new RegExp(`^it is not known whether \`${verb}\`.* no answer within ${seconds} s`),
      ),
    });
  } finally {
    AbortSignal.timeout = timeout;
    server.closeAllConnections();
  }
});

test('a connection that ends before the answer does not say that a change failed', async () => {
  const client = await clientOf(200, '');
  server.removeAllListeners('request').on('request', ({ socket }) => socket.destroy());
  await expect(rollback(client)).rejects.toMatchObject({ ...UNKNOWN, message: expect.stringContaining('rollback') });
});
