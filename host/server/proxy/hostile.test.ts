import { createServer } from 'node:net';
import { openRaw, rawRequest, statusOf } from '@liaozhai/http/testing';
import { describe, expect, onTestFinished, test } from '@rstest/core';
import { listen, listenFor, nowhere, openProxy, openRawBackend } from '../testing/openProxy.ts';

const call = ['GET /api/v1/stories HTTP/1.1', 'Host: x', 'Connection: close'];
const wish = ['GET /app/key HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x'];

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

/** Invalid responses. */
const broken: Record<string, string> = {
  nothing: '',
  'half a status line': 'HTTP/1.1 20',
  'half a head': 'HTTP/1.1 200 OK\r\nContent-Le',
  'no HTTP': 'SSH-2.0-OpenSSH_9.2\r\n',
  'a status of two digits': 'HTTP/1.1 99 Low\r\nContent-Length: 0\r\n\r\n',
  'status 099': 'HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n',
  'status 000': 'HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n',
  'status 999': 'HTTP/1.1 999 High\r\nContent-Length: 0\r\n\r\n',
  'status 1000': 'HTTP/1.1 1000 High\r\nContent-Length: 0\r\n\r\n',
  'a status that is no number': 'HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n',
  'another protocol, unasked': 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'a promise and no answer': 'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/3.7': 'HTTP/3.7 200 OK\r\nContent-Length: 0\r\n\r\n',
  'two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nhi',
  'a length that is no number': 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhi',
  'a length and chunks': `${chunked.slice(0, -2)}Content-Length: 2\r\n\r\nhi`,
  'a header without a colon': 'HTTP/1.1 200 OK\r\nnonsense\r\nContent-Length: 0\r\n\r\n',
  'a control character in a header': 'HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 2\r\n\r\nhi',
  'a NUL in a header': 'HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n',
  'a megabyte of headers': `HTTP/1.1 200 OK\r\n${'X: 1234567890\r\n'.repeat(70_000)}\r\n`,
  'a body that ends early': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf',
  'half a chunk': `${chunked}5\r\nhe`,
  'chunks without an end': `${chunked}5\r\nhello\r\n`,
  'a chunk of no size': `${chunked}zz\r\nhello\r\n0\r\n\r\n`,
  'a coding next to chunks': `HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
  'a coding in place of chunks': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: deflate\r\n\r\nhi',
  'a chunk longer than it says': `${chunked}2\r\nhello\r\n0\r\n\r\n`,
};

/** Unusual responses that are passed on. */
const odd: Record<string, string> = {
  'a control character in the status line': 'HTTP/1.1 200 O\x01K\r\nContent-Length: 2\r\n\r\nhi',
  'letters beyond ASCII in the status line': 'HTTP/1.1 200 \xe5\xa5\xbd\r\nContent-Length: 2\r\n\r\nhi',
  'no words in the status line': 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi',
  'a thousand headers': `HTTP/1.1 200 OK\r\n${'X: 1\r\n'.repeat(1_000)}Content-Length: 2\r\n\r\nhi`,
  'headers about its own connection':
    'HTTP/1.1 200 OK\r\nConnection: close, X-Own\r\nX-Own: 1\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nhi',
  'no length, ended by closing': 'HTTP/1.0 200 OK\r\n\r\nhi',
  'hints first': 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi',
  'more than it promised': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi and more',
};

describe('a response of the backend', () => {
  test.each(Object.entries(broken))('with %s becomes a 502', async (_, bytes) => {
    const origin = await openProxy({ backend: await openRawBackend(bytes).then((url) => () => url) });
    for (const method of ['GET', 'POST']) {
      const answer = await rawRequest(origin, `${method} /api/v1/stories HTTP/1.1`, ...call.slice(1));
      expect([method, statusOf(answer), answer]).toEqual([method, 502, expect.stringContaining('{"message":"')]);
    }
  });

  test.each(Object.entries(odd))('with %s is passed on', async (_, bytes) => {
    const url = await openRawBackend(Buffer.from(bytes, 'latin1'));
    const answer = await rawRequest(await openProxy({ backend: () => url }), ...call);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n(hi|2\r\nhi\r\n0\r\n)/s);
    expect(answer).not.toMatch(/x-own|keep-alive: timeout=1/i);
    expect(answer).not.toContain('\x01');
  });

  test.each(Object.entries(broken))('with %s and a connection reset becomes a 502', async (_, bytes) => {
    const url = await openRawBackend(bytes, 'resets');
    expect(statusOf(await rawRequest(await openProxy({ backend: () => url }), ...call))).toBe(502);
  });

  test.each(Object.entries({ ...broken, ...odd }))(
    'with %s to a socket request results in a status',
    async (_, bytes) => {
      const url = await openRawBackend(Buffer.from(bytes, 'latin1'));
      const answer = await rawRequest(await openProxy({ backend: nowhere, reverb: url }), ...wish);
      expect(statusOf(answer)).toBeGreaterThan(100);
    },
  );

  test.each([
    ['200 OK', 502],
    ['204 No Content', 502],
    ['302 Found', 502],
    ['429 Too Many Requests', 429],
    ['499 Odd', 499],
    ['599 Odd', 599],
    ['101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c', 502],
    ['101 Switching Protocols\r\nConnection: Upgrade', 502],
  ])('of %j to a socket request becomes %d', async (head, status) => {
    const url = await openRawBackend(`HTTP/1.1 ${head}\r\n\r\n`);
    const answer = await rawRequest(await openProxy({ backend: nowhere, reverb: url }), ...wish);
    expect([statusOf(answer), answer]).toEqual([status, expect.not.stringContaining('undefined')]);
  });

  test.each([
    ['its head letter by letter', 'X'],
    ['hints without end', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ])('with %s becomes a 504 in time', async (_, piece) => {
    const server = createServer((socket) => {
      const slowly = setInterval(() => socket.write(piece), 20);
      socket.on('error', () => {});
      socket.once('close', () => clearInterval(slowly));
      if (piece === 'X') socket.write('HTTP/1.1 200 OK\r\nX-');
    });
    const backend = await listen(server);
    const front = await openProxy({ backend: () => backend, answerMs: 400 });
    for (const lines of [call, wish]) expect(statusOf(await rawRequest(front, ...lines))).toBe(504);
  });

  test('is streamed as it arrives', async () => {
    const server = createServer((socket) => {
      socket.once('data', () => socket.write(`${chunked}5\r\nfirst\r\n`));
    });
    const backend = await listen(server);
    const { socket, received } = openRaw(await openProxy({ backend: () => backend }));
    onTestFinished(() => void socket.destroy());
    socket.write(`${call.join('\r\n')}\r\n\r\n`);
    await expect.poll(received).toContain('first');
  });

  test('arrives completely if it is large', async () => {
    const body = 'x'.repeat(3_000_000);
    const { origin } = await listenFor((_, response) => response.end(body));
    const answer = await fetch(`${await openProxy({ backend: () => origin })}/api/v1/stories`);
    expect((await answer.text()) === body).toBe(true);
  });

  test('before the end of the request body reaches the visitor', async () => {
    const { origin } = await listenFor((_, response) => response.writeHead(413).end('too large'));
    const front = await openProxy({ backend: () => origin });
    const { socket, received, ended } = openRaw(front);
    socket.once('end', () => socket.end());
    socket.write('POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nx');
    await expect.poll(received).toContain('too large');
    expect(statusOf(received())).toBe(413);
    await ended;
  });
});

test('an unreachable backend becomes a 503 with a text and Retry-After', async () => {
  const answer = await fetch(`${await openProxy({ backend: nowhere })}/api/v1/stories`);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await answer.json()).toEqual({ message: expect.stringContaining('稍后再试') });
});

describe('sec: a path with dot segments', () => {
  const spellings = [
    '..',
    '.',
    '%2e%2e',
    '%2E%2e',
    '.%2e',
    '%2e.',
    '%2e',
    '%252e%252e',
    '%25252e.',
    '%c0%ae%c0%ae',
    '%uff0e.',
  ];
  const slashes = ['/', '\\', '%2f', '%5c', '%252f', '%255C', '%c0%af', ';x/', '%00/', '%20/', ''];
  const paths = spellings
    .flatMap((dots) => slashes.map((slash) => `/api/v1/${dots}${slash}admin`))
    .filter(
      // without a slash after it, it is the start of a name
      (path) => /[/\\]admin|%(25)*(2f|5c)admin|%c0%afadmin/i.test(path),
    );

  test('is refused in every spelling and does not reach the backend', async () => {
    const asked: unknown[] = [];
    const { origin } = await listenFor(({ url }, response) => {
      asked.push(url);
      response.end();
    });
    const front = await openProxy({ backend: () => origin });
    for (const path of [...paths, '/api/..', '/api/v1/%2e%2e', '/x/../api/v1', '/api/../../etc']) {
      const answer = await rawRequest(front, `GET ${path} HTTP/1.1`, ...call.slice(1));
      expect([path, statusOf(answer)]).toEqual([path, 400]);
    }
    expect(asked).toEqual([]);
  });

  test.each([
    '/api/v1/a..b',
    '/api/v1/...',
    '/api/v1/.hidden',
    '/api/v1/x?next=../y',
    '/api/v1/%E2%80%A6',
    '/api/v1/5%25',
  ])('%s is passed on', async (path) => {
    const { origin } = await listenFor(({ url }, response) => response.end(url));
    expect(await (await fetch((await openProxy({ backend: () => origin })) + path)).text()).toBe(path);
  });
});
