import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { rawRequest } from '@liaozhai/http/testing';
import { describe, expect, onTestFinished, rs, test } from '@rstest/core';
import { listenFor, nowhere, openProxy, silent } from '../testing/openProxy.ts';

/** Accepts every socket, and records the requests. */
async function listenForSockets(name: string) {
  const asked: { url?: string; headers: IncomingHttpHeaders; socket: Socket }[] = [];
  const plain: string[] = [];
  const { server, origin } = await listenFor(({ url = '' }, response) => {
    plain.push(url);
    response.writeHead(404).end();
  });
  server.on('upgrade', ({ url, headers }: IncomingMessage, socket: Socket) => {
    asked.push({ url, headers, socket });
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-By: ${name}\r\n\r\n`,
    );
  });
  return { origin, asked, plain };
}

/**
 * Requests a socket. Resolves with the server's name, the status of a refusal, or `closed`; `ended` resolves when the other side
 * closes it.
 */
async function openSocket(origin: string, path: string, headers: Record<string, string> = {}) {
  const asked = request(origin, {
    path,
    headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'x', ...headers },
  });
  asked.end();
  return new Promise<{ answer: unknown; ended?: Promise<unknown> }>((resolve) => {
    asked.once('upgrade', (response, socket) => {
      socket.resume();
      resolve({ answer: response.headers['x-by'], ended: once(socket, 'close') });
    });
    asked.once('response', ({ statusCode }) => resolve({ answer: statusCode }));
    asked.once('error', () => resolve({ answer: 'closed' }));
  });
}

test('a connection to the backend is reused, and closed before the backend’s timeout', async () => {
  const backend = await listenFor((_, response) => response.end('answered'));
  const connections: Socket[] = [];
  backend.server.on('connection', (socket) => connections.push(socket));
  const origin = await openProxy({ backend: () => backend.origin });
  const ask = async () => (await fetch(`${origin}/api/v1/stories`)).text();
  expect([await ask(), await ask()]).toEqual(['answered', 'answered']);
  const [connection] = connections;
  expect(connections).toHaveLength(1);
  if (connection) await once(connection, 'end');
});

describe('the socket', () => {
  test('goes to the backend, or to the configured Reverb', async () => {
    const backend = await listenForSockets('backend');
    const reverb = await listenForSockets('reverb');
    const together = await openProxy({ backend: () => backend.origin });
    const apart = await openProxy({ backend: () => backend.origin, reverb: reverb.origin });
    expect((await openSocket(together, '/app/%7Bkey%7D?protocol=7')).answer).toBe('backend');
    expect((await openSocket(apart, '/app/%7Bkey%7D?protocol=7')).answer).toBe('reverb');
    expect(reverb.asked[0]?.url).toBe('/app/%7Bkey%7D?protocol=7');
    await fetch(`${apart}/api/v1/stories`);
    expect([backend.plain, reverb.plain]).toEqual([['/api/v1/stories'], []]);
  });

  test('sends Reverb the visitor’s address and page, but no session', async () => {
    const reverb = await listenForSockets('reverb');
    const origin = await openProxy({ backend: nowhere, reverb: reverb.origin });
    const lies = {
      'x-forwarded-for': '6.6.6.6',
      forwarded: 'for=6.6.6.6',
      'x-forwarded-prefix': '/6.6.6.6',
      x_forwarded_host: '6.6.6.6',
      X_FORWARDED_FOR: '6.6.6.6',
    };
    const secrets = { cookie: 'session=secret', authorization: 'Bearer secret' };
    await openSocket(origin, '/app/key', { host: 'app.example', origin: 'https://app.example', ...lies, ...secrets });
    expect(reverb.asked[0]?.headers).toMatchObject({
      host: new URL(reverb.origin).host,
      origin: 'https://app.example',
      'x-forwarded-host': 'app.example',
      'x-forwarded-for': expect.stringMatching(/127\.0\.0\.1$/),
    });
    expect(JSON.stringify(reverb.asked[0]?.headers)).not.toMatch(/secret|6\.6\.6\.6/);
  });

  test('does not reach the API that publishes events, in any spelling of its address', async () => {
    const reverb = await listenForSockets('reverb');
    const origin = await openProxy({ backend: nowhere, reverb: reverb.origin });
    const addresses = [
      '/apps/1001/events',
      '/app',
      '/app/',
      '/app/..',
      '/app/../apps/1001/events',
      '/app/%2e%2e/apps/1001/events',
      '/app/..%2fapps%2f1001%2fevents',
      '/app/..%5capps%5c1001%5cevents',
      '/app/%2e%2e',
      '/app/key/../../apps/1001/channels',
      '/app/%252e%252e%252fapps',
      '/app/%zz',
      '//apps/1001/channels',
      '/up',
    ];
    const isRefused = (status: unknown) => status === 400 || status === 404;
    for (const path of addresses) {
      expect([path, (await openSocket(origin, path)).answer]).toEqual([path, expect.toSatisfy(isRefused)]);
      const status = await new Promise((resolve) =>
        request(origin, { path, method: 'POST' }, ({ statusCode }) => resolve(statusCode)).end(),
      );
      expect([path, status]).toEqual([path, expect.toSatisfy(isRefused)]);
    }
    expect([reverb.asked, reverb.plain]).toEqual([[], []]);
  });

  test('responds with 426 to a page request, without a request to Reverb', async () => {
    const reverb = await listenForSockets('reverb');
    const origin = await openProxy({ backend: nowhere, reverb: reverb.origin });
    const answer = await fetch(`${origin}/app/key`);
    expect([answer.status, answer.headers.get('upgrade'), reverb.plain]).toEqual([426, 'websocket', []]);
  });

  test('is logged once with a cure if the backend refuses it', async () => {
    const warned = rs.spyOn(silent, 'warn');
    onTestFinished(() => warned.mockRestore());
    const laravel = await listenFor((_, response) => response.writeHead(404).end());
    laravel.server.removeAllListeners('upgrade');
    const origin = await openProxy({ backend: () => laravel.origin });
    for (let attempt = 0; attempt < 3; attempt++) expect((await openSocket(origin, '/app/key')).answer).toBe(404);
    expect(warned.mock.calls).toEqual([[expect.stringMatching(/answers 404.*REVERB_URL/)]]);
  });

  test('responds with 503 and a text if its target is unreachable', async () => {
    for (const reverb of [nowhere(), undefined]) {
      const origin = await openProxy({ backend: nowhere, reverb });
      const answer = await rawRequest(
        origin,
        'GET /app/key HTTP/1.1',
        'Host: x',
        'Connection: Upgrade',
        'Upgrade: websocket',
      );
      expect(answer).toMatch(/^HTTP\/1\.1 503 .*\r\nretry-after: 1\r\n.*"message":"/s);
    }
  });

  test('ends after its time limit at both ends, also for an unresponsive visitor', async () => {
    const reverb = await listenForSockets('reverb');
    const origin = await openProxy({ backend: nowhere, reverb: reverb.origin, maxSocketMs: 50 });
    const { answer, ended } = await openSocket(origin, '/app/key');
    expect(answer).toBe('reverb');
    const atReverb = reverb.asked[0]?.socket;
    atReverb?.resume();
    await Promise.all([ended, atReverb && once(atReverb, 'end')]);
  });
});
