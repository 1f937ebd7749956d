import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRaw, statusOf } from '@liaozhai/http/testing';
import { repoRoot } from '@liaozhai/shared/build/facts';
import { afterAll, describe, expect, test } from '@rstest/core';
import { readComposeFile } from '../../e2e/compose/composeFile.ts';
import { providePath } from '../../e2e/needs.ts';
import { openTestProduct } from './testing/testProduct.ts';

const folder = mkdtempSync(join(tmpdir(), 'liaozhai-fronts-'));
const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

const nobody = '127.0.0.1:9';
const hostOf = (origin: string) => new URL(origin).host;

/** Starts the nginx of a compose file before two fronts, with a test's backend or none, and no Reverb. Resolves with the origin. */
async function openSite(file: string, hasBackend: boolean): Promise<string> {
  const product = await openTestProduct();
  stops.push(() => product.close());
  const [outside, calls, sockets] = [await freePort(), await freePort(), await freePort()];
  const settings = { TRUST_PROXY: 'true', REVERB_URL: `http://127.0.0.1:${sockets}` };
  const inner = { backendUrl: () => `http://127.0.0.1:${calls}` };
  const fronts = [await product.serve(settings, inner), await product.serve(settings, inner)].map(hostOf);
  const backend = hasBackend ? hostOf(product.backendOrigin) : nobody;
  const variables = { LARAVEL_DIR: '.', APP_KEY: 'x'.repeat(32) };
  const config = readComposeFile(join(repoRoot, file), variables).configs.nginx?.content ?? '';
  const here = config
    .replaceAll('front-a:3000', fronts[0] ?? '')
    .replaceAll('front-b:3000', fronts[1] ?? '')
    .replaceAll(/(laravel|backend)-[ab]:8000/g, backend)
    .replaceAll(/reverb-[ab]:8080/g, nobody)
    .replace('0.0.0.0:80;', `127.0.0.1:${outside};`)
    .replace('0.0.0.0:8000;', `127.0.0.1:${calls};`)
    .replace('0.0.0.0:8081;', `127.0.0.1:${sockets};`)
    .replace(/pid [^;]+;/, `pid ${join(folder, `${outside}.pid`)};`);
  const path = join(folder, `${outside}.conf`);
  writeFileSync(path, here);
  const nginx = spawn(await providePath('nginx'), ['-c', path, '-g', 'daemon off; master_process off;'], {
    stdio: 'ignore',
  });
  stops.push(async () => {
    nginx.kill('SIGTERM');
    if (nginx.exitCode === null) await once(nginx, 'exit');
  });
  const origin = `http://127.0.0.1:${outside}`;
  await expect.poll(async () => (await fetch(`${origin}/healthz`).catch(() => null))?.status).toBe(200);
  return origin;
}

const socketWish = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: eA==',
];
const h2c = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA'];

/** Requests of a malicious visitor, or of a faulty program. */
const requests: string[][] = [
  ...['/explore', '/api/v1/stories', '/healthz', '/app/lz-key', '/no/such/page'].flatMap((path) =>
    ['GET', 'HEAD', 'POST', 'TRACE', 'OPTIONS', 'DELETE'].flatMap((method) => [
      [`${method} ${path} HTTP/1.1`, 'Host: x', ...h2c],
      [`${method} ${path} HTTP/1.1`, 'Host: x', ...socketWish],
      [`${method} ${path} HTTP/1.1`, 'Host: x', 'Connection: Upgrade', 'Upgrade: TLS/1.0'],
      [`${method} ${path} HTTP/1.1`, 'Host: x', 'Connection: Upgrade', 'Upgrade:'],
      [`${method} ${path} HTTP/1.1`, 'Host: x', 'Upgrade: websocket'],
    ]),
  ),
  ['GET /readyz HTTP/1.1', 'Host: x'],
  ['GET /readyz HTTP/1.0'],
  ['CONNECT x:443 HTTP/1.1', 'Host: x'],
  [
    'GET /explore HTTP/1.1',
    'Host: x',
    `X-A: ${'a'.repeat(7_000)}`,
    `X-B: ${'b'.repeat(7_000)}`,
    `X-C: ${'c'.repeat(7_000)}`,
  ],
  ['POST /beacon HTTP/1.1', 'Host: x', 'Content-Length: 9000', '', 'x'.repeat(9_000)],
  ['GET /api/v1/%2e%2e/x HTTP/1.1', 'Host: x'],
  ['GET /explore HTTP/1.1', 'Host: a b'],
  ['GET /explore HTTP/1.1', 'Host: x', 'Expect: wonders'],
];

/** Sends a request and disconnects as soon as data arrives or the connection closes. */
async function send(origin: string, lines: string[]): Promise<number> {
  const { socket, received } = openRaw(origin);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  await Promise.race([once(socket, 'data').catch(() => {}), once(socket, 'close').catch(() => {})]);
  socket.destroy();
  return statusOf(received());
}

describe.each(['docs/compose.yaml', 'docs/compose.postgres.yaml'])('two fronts behind the nginx of %s', (file) => {
  test.each(['there', 'away'])(
    'serve 200 to one visitor while another sends malformed requests: Reverb unreachable, the backend %s',
    async (backend) => {
      const origin = await openSite(file, backend === 'there');
      const paths = ['/explore', '/favicon.svg', ...(backend === 'there' ? ['/api/v1/stories'] : [])];
      for (const lines of requests) {
        // so that both fronts receive it
        for (const status of await Promise.all([send(origin, lines), send(origin, lines), send(origin, lines)]))
          expect([lines[0], status >= 200]).toEqual([lines[0], true]);
        for (const path of [...paths, ...paths]) {
          const answer = await fetch(origin + path);
          expect([lines, path, answer.status]).toEqual([lines, path, 200]);
          await answer.arrayBuffer();
        }
      }
    },
  );

  test('answer a call with Upgrade that nginx sends to the backend as one without', async () => {
    const origin = await openSite(file, true);
    expect(await send(origin, ['GET /api/v1/stories HTTP/1.1', 'Host: x', ...h2c])).toBe(200);
  });
});
