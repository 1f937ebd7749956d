import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from '@rstest/core';
import { answerRaw, createHttpServer, listenProblem } from './server.ts';
import { openRaw, rawRequest, statusOf } from './testing/rawRequest.ts';

let server: Server;
let origin = '';

beforeAll(async () => {
  server = createHttpServer(
    async (request, response) => {
      if (request.url === '/early') return response.writeHead(403).end('early');
      if (request.url === '/later') await new Promise((resolve) => setImmediate(resolve));
      let body = '';
      try {
        for await (const bytes of request) body += bytes;
      } catch {
        return;
      }
      response.end(`${request.method} ${request.url} ${request.headers.upgrade ?? 'plain'} [${body}]`);
    },
    {
      isSocket: ({ url }) => url === '/app/key',
      onSocket: (_, socket) => answerRaw(socket, 503, 'a socket'),
      requestMs: 3_000,
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const h2c = ['Connection: Upgrade, HTTP2-Settings, close', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA'];

describe('a request that asks for another protocol', () => {
  const upgrades: Record<string, string[]> = {
    h2c,
    TLS: ['Connection: Upgrade, close', 'Upgrade: TLS/1.0'],
    'nothing at all': ['Connection: Upgrade, close', 'Upgrade: '],
    'something made up': ['Connection: upgrade, close', 'Upgrade: x, y/2'],
    'a WebSocket': ['Connection: Upgrade, close', 'Upgrade: websocket', 'Sec-WebSocket-Key: x'],
    'a WebSocket without a Connection header': ['Upgrade: websocket'],
    'a Connection header alone': ['Connection: Upgrade, close'],
    'two of each': ['Connection: Upgrade', 'Connection: close', 'Upgrade: h2c', 'Upgrade: websocket'],
  };
  for (const [name, headers] of Object.entries(upgrades)) {
    for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST']) {
      test(`${method} with ${name} is answered as without it`, async () => {
        const { socket, received, ended } = openRaw(origin);
        socket.once('end', () => socket.end());
        const body = method === 'POST' ? 'one two' : '';
        const length = body && `Content-Length: ${body.length}\r\n`;
        socket.write(
          `${method} /page HTTP/1.1\r\nHost: x\r\n${length}${headers.join('\r\n')}\r\n\r\n${body.slice(0, 3)}`,
        );
        // the rest of a body arrives in a separate packet
        socket.write(body.slice(3));
        if (!headers.join().includes('close')) await expect.poll(received).toContain('HTTP/1.1');
        socket.end();
        await ended;
        expect(statusOf(received())).toBe(200);
        if (method !== 'HEAD') expect(received()).toContain(`${method} /page `);
        if (body) expect(received()).toContain('[one two]');
        expect(received()).not.toContain('Switching');
      });
    }
  }

  test('a body in chunks arrives whole', async () => {
    const chunks = '3\r\none\r\n4\r\n two\r\n0';
    const answer = await rawRequest(
      origin,
      'POST /page HTTP/1.1',
      'Host: x',
      'Transfer-Encoding: chunked',
      ...h2c,
      '',
      chunks,
    );
    expect(answer).toContain('[one two]');
  });

  test('the connection goes on, and answers what was asked on it in order', async () => {
    const [first, ...others] = ['/later', '/1', '/2', '/3'].map((path, at) => {
      const upgrade = at % 2 ? 'Connection: Upgrade\r\nUpgrade: h2c\r\n' : '';
      return `GET ${path} HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`;
    });
    const { socket, received } = openRaw(origin);
    onTestFinished(() => void socket.destroy());
    socket.write([first, ...others].join(''));
    await expect.poll(received).toContain('GET /3');
    expect([...received().matchAll(/GET (\/\w+)/g)].map(([, path]) => path)).toEqual(['/later', '/1', '/2', '/3']);
  });

  test('a WebSocket of ours is handed on, by GET alone', async () => {
    const ask = (method: string) =>
      rawRequest(origin, `${method} /app/key HTTP/1.1`, 'Host: x', 'Connection: Upgrade, close', 'Upgrade: WebSocket');
    expect(await ask('GET')).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n.*a socket$/s);
    for (const method of ['HEAD', 'POST']) expect(statusOf(await ask(method))).toBe(200);
  });
});

describe('what is no request of ours', () => {
  test.each<[string, number, string[]]>([
    ['CONNECT', 405, ['CONNECT x:443 HTTP/1.1', 'Host: x']],
    ['the preface of HTTP/2', 400, ['PRI * HTTP/2.0', '', 'SM']],
    ['a TLS greeting', 400, ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03']],
    ['a request line of one word', 400, ['hello']],
    ['a header without a name', 400, ['GET / HTTP/1.1', 'Host: x', ': y']],
    ['HTTP/1.1 without Host', 400, ['GET / HTTP/1.1']],
    ['two lengths', 400, ['POST / HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Content-Length: 2']],
    ['a length and chunks', 400, ['POST / HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Transfer-Encoding: chunked']],
    ['40 KiB of headers', 431, ['GET / HTTP/1.1', 'Host: x', `X: ${'x'.repeat(40_000)}`]],
    ['a body in a coding that nobody undoes', 501, ['POST / HTTP/1.1', 'Host: x', 'Transfer-Encoding: gzip, chunked']],
    ['an expectation', 417, ['GET / HTTP/1.1', 'Host: x', 'Connection: close', 'Expect: wonders']],
  ])('%s is answered with %d', async (_, status, lines) => {
    expect(statusOf(await rawRequest(origin, ...lines))).toBe(status);
  });

  test('HTTP/1.0 without Host, as health checks send it, is answered', async () => {
    expect(await rawRequest(origin, 'GET /healthz HTTP/1.0')).toContain('GET /healthz plain []');
  });
});

test('the address as a proxy writes it names the same page', async () => {
  const answer = await rawRequest(origin, 'GET http://app.example/page?x=1 HTTP/1.1', 'Host: y', 'Connection: close');
  expect(answer).toContain('GET /page?x=1 plain []');
});

test('a body that goes on after its answer holds the connection for two seconds', async () => {
  const { socket, received, ended } = openRaw(origin);
  const slowly = setInterval(() => socket.write('x'), 200);
  onTestFinished(() => clearInterval(slowly));
  const from = performance.now();
  socket.write('POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx');
  await ended;
  expect(statusOf(received())).toBe(403);
  expect(performance.now() - from).toBeLessThan(3_000);
});

test('a connection on which many bodies come after their answers leaves nothing behind', async () => {
  const warnings: string[] = [];
  const warned = ({ message }: Error) => warnings.push(message);
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  const { socket, received } = openRaw(origin);
  onTestFinished(() => void socket.destroy());
  for (let count = 1; count <= 20; count += 1) {
    socket.write('POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n');
    await expect.poll(() => received().split('early').length - 1).toBe(count);
    socket.write('x');
  }
  expect(warnings).toEqual([]);
});

test('a request that never comes whole is answered with 408', async () => {
  const { socket, received, ended } = openRaw(origin);
  const slowly = setInterval(() => socket.write('x'), 1_000);
  onTestFinished(() => clearInterval(slowly));
  socket.once('end', () => socket.end());
  socket.write('POST /page HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx');
  await ended;
  expect(statusOf(received())).toBe(408);
});

test('a server that cannot listen names the setting to correct', async () => {
  const problemAt = async (host: string, port: string) => {
    const other = createHttpServer(() => {}).listen({ host, port });
    const [error] = await once(other, 'error');
    return listenProblem(error, 'HOST', 'PORT');
  };
  expect(await problemAt('192.0.2.1', '0')).toMatch(/^HOST: .* 192\.0\.2\.1.* Name an address of this machine/);
  expect(await problemAt('127.0.0.1', new URL(origin).port)).toMatch(/^PORT: in use by another program/);
  expect(listenProblem(new Error('another'), 'HOST', 'PORT')).toBeNull();
});
