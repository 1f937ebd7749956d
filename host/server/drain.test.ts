import { type ChildProcessByStdio, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { publishLocal } from '@liaozhai/releases';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from '@rstest/core';
import { testPackages } from './testing/testPackages.ts';

const folder = mkdtempSync(join(tmpdir(), 'liaozhai-drain-'));
const store = `file:${join(folder, 'store')}`;

beforeAll(async () => {
  await publishLocal({ dists: testPackages(folder), store });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A separate backend that answers when the test does, echoes bodies, and accepts sockets. */
async function openBackend() {
  const asked: ServerResponse[] = [];
  const server = createServer(async (message, response) => {
    if (message.url === '/readyz') return response.end('{}');
    if (message.method === 'POST') return response.end(await text(message));
    asked.push(response);
  });
  server.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    socket.on('error', () => socket.destroy()).resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Starts a production server as an operator does, with a separate backend. */
async function openFront(backendUrl: string, settings: Record<string, string> = {}) {
  const { PATH, LIAOZHAI_TEST_RUN } = process.env;
  const kept = { PORT: '0', DATA_DIR: join(folder, 'data'), RELEASES_STORE: store, BACKEND_URL: backendUrl };
  const env = { PATH, LIAOZHAI_TEST_RUN, ...kept, DRAIN_SECONDS: '600', ...settings };
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', 'ipc'];
  const child = spawn(process.execPath, ['host/server/run.mjs', 'host/server/main.ts', '--serve'], {
    env,
    stdio,
  }) as ChildProcessByStdio<null, Readable, Readable>;
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close');
  const said = { text: '' };
  const origin = await new Promise<string>((resolve, reject) => {
    const hear = (bytes: Buffer) => {
      said.text += bytes.toString();
      const found = /is ready at (http:\S+)/.exec(said.text)?.[1];
      if (found) resolve(found.replace('localhost', '127.0.0.1'));
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('close', () => reject(new Error(said.text)));
  });
  return { child, ended, said, origin };
}

const answerTo = async (asked: ClientRequest) => {
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return [answer.statusCode, await text(answer)];
};

const statusOf = async (address: string) => (await fetch(address)).status;

describe('ops.drain: a front server with a separate backend, on a signal', () => {
  test('logs it, finishes twenty calls and an upload, closes its sockets and exits with 0', async () => {
    const backend = await openBackend();
    const front = await openFront(backend.url);
    const calls = Array.from({ length: 20 }, () => answerTo(request(`${front.origin}/api/v1/stories`).end()));
    const upload = request(`${front.origin}/api/v1/user/picture`, {
      method: 'POST',
      // the server confirms that it has the call
      headers: { expect: '100-continue' },
    });
    upload.write('one half, ');
    await once(upload, 'continue');
    const joined = request(`${front.origin}/app/key`, {
      headers: { connection: 'Upgrade', upgrade: 'websocket' },
    }).end();
    const [, socket] = await once(joined, 'upgrade');
    const away = once(socket.resume(), 'close');
    await expect.poll(() => backend.asked.length).toBe(20);
    front.child.kill('SIGTERM');
    await expect.poll(() => statusOf(`${front.origin}/readyz`)).toBe(503);
    expect(await statusOf(`${front.origin}/healthz`)).toBe(200);
    for (const response of backend.asked) response.end('a story');
    expect(new Set((await Promise.all(calls)).map(String))).toEqual(new Set(['200,a story']));
    expect(await statusOf(`${front.origin}/healthz`)).toBe(200);
    upload.end('the other');
    expect(await answerTo(upload)).toEqual([200, 'one half, the other']);
    await away;
    expect(await front.ended).toEqual([0, null]);
    expect(front.said.text).not.toMatch(/unhandled|"level":"(error|fatal)"/i);
  });

  test('waits for open calls for DRAIN_SECONDS at most', async () => {
    const backend = await openBackend();
    const front = await openFront(backend.url, { DRAIN_SECONDS: '1' });
    const call = answerTo(request(`${front.origin}/api/v1/stories`).end()).catch((cause) => cause.code);
    await expect.poll(() => backend.asked.length).toBe(1);
    const from = performance.now();
    front.child.kill('SIGTERM');
    expect(await call).toBe('ECONNRESET');
    expect(performance.now() - from).toBeGreaterThan(990);
    expect(await front.ended).toEqual([0, null]);
  });

  test('ends immediately on a second signal of any kind', async () => {
    const backend = await openBackend();
    const front = await openFront(backend.url);
    const call = answerTo(request(`${front.origin}/api/v1/stories`).end()).catch((cause) => cause.code);
    await expect.poll(() => backend.asked.length).toBe(1);
    front.child.kill('SIGTERM');
    await expect.poll(() => statusOf(`${front.origin}/readyz`)).toBe(503);
    front.child.kill('SIGINT');
    expect(await front.ended).toEqual([null, 'SIGINT']);
    expect(await call).toBe('ECONNRESET');
  });
});
