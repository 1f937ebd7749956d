import { createHash } from 'node:crypto';
import { openRaw, rawRequest, statusOf } from '@liaozhai/http/testing';
import { isInCandidate } from '@liaozhai/releases';
import type { PageSet } from '@liaozhai/shared/contract';
import { afterAll, beforeAll, describe, expect, test } from '@rstest/core';
import { openTestProduct } from './testing/testProduct.ts';

let product: Awaited<ReturnType<typeof openTestProduct>>;
let origin = '';
let behindProxy = '';

beforeAll(async () => {
  product = await openTestProduct();
  origin = await product.serve();
  behindProxy = await product.serve({ TRUST_PROXY: 'true' });
});

afterAll(() => product.close());

const setIn = (html: string): PageSet => JSON.parse(/id="liaozhai-set">([^<]*)</.exec(html)?.[1] ?? '{}');

describe('a request with Upgrade', () => {
  const h2c = [
    'Connection: Upgrade, HTTP2-Settings, close',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA',
  ];
  const socket = ['Connection: Upgrade, close', 'Upgrade: websocket', 'Sec-WebSocket-Key: x'];
  const paths = ['/explore', '/favicon.svg', '/api/v1/stories', '/healthz', '/no/such/page', '/robots.txt'];

  test.each(paths)('to %s gets the same response as without it', async (path) => {
    const { status } = await fetch(origin + path);
    for (const headers of [h2c, socket, ['Connection: close', 'Upgrade: '], ['Upgrade: h2c', 'Connection: close']])
      for (const method of ['GET', 'HEAD'])
        expect(statusOf(await rawRequest(origin, `${method} ${path} HTTP/1.1`, 'Host: x', ...headers))).toBe(status);
  });
});

describe('a health check', () => {
  test.each<[string, string[]]>([
    ['HAProxy', ['OPTIONS / HTTP/1.0']],
    ['HAProxy, of the whole server', ['OPTIONS * HTTP/1.0']],
    ['HAProxy with an address', ['GET /healthz HTTP/1.0']],
    ['HAProxy, by HEAD', ['HEAD /healthz HTTP/1.0']],
    ['nginx', ['GET /healthz HTTP/1.0', 'Host: front_servers', 'Connection: close']],
    ['Kubernetes', ['GET /readyz HTTP/1.1', 'Host: 10.0.0.7:3000', 'User-Agent: kube-probe/1.31', 'Connection: close']],
    ['ELB', ['GET /healthz HTTP/1.1', 'Host: 10.0.0.7', 'User-Agent: ELB-HealthChecker/2.0', 'Connection: close']],
    ['readiness over HTTP/1.0', ['GET /readyz HTTP/1.0']],
  ])('of %s is answered with 200', async (_, lines) => {
    expect(statusOf(await rawRequest(origin, ...lines))).toBe(200);
  });
});

test.each([
  ...['1.2.3.4.5', '999.1.1.1', 'a^b', 'a/b', 'a?b', 'a@b', 'a,b', 'xn--'].map((host) => [`Host: ${host}`]),
  ['Host: a', 'Host: b'],
])('a request to %s %s, which is no host, is refused', async (...hosts) => {
  for (const path of ['/explore', '/api/v1/stories'])
    expect(statusOf(await rawRequest(origin, `GET ${path} HTTP/1.1`, ...hosts, 'Connection: close'))).toBe(400);
});

describe('a body that cannot be read is no failure of the server', () => {
  const address = '/explore?override=stories@http://localhost:3101';
  const errors = () => product.logEntries.filter(({ level }) => level === 'error');

  test.each(['multipart/form-data', 'multipart/form-data; boundary=x'])('as %s without its parts', async (type) => {
    const headers = { origin, cookie: `lz_local=${'a'.repeat(64)}`, 'content-type': type };
    const { status } = await fetch(origin + address, { method: 'POST', headers, body: 'nonsense' });
    expect([status, errors()]).toEqual([403, []]);
  });

  test.each([
    ['/beacon', 'Transfer-Encoding: chunked', '5\r\nhel'],
    [address, 'Transfer-Encoding: chunked', '5\r\nhel'],
    [address, 'Content-Length: 100', 'proof=x'],
  ])('to %s with %s, broken off', async (path, framing, body) => {
    const { socket, received } = openRaw(origin);
    const { host } = new URL(origin);
    const type = 'application/x-www-form-urlencoded';
    const headers = [
      `Host: ${host}`,
      `Origin: ${origin}`,
      `Cookie: lz_local=${'a'.repeat(64)}`,
      `Content-Type: ${type}`,
    ];
    const before = product.logEntries.length;
    socket.write([`POST ${path} HTTP/1.1`, ...headers, 'Expect: 100-continue', framing, '', body].join('\r\n'));
    await expect.poll(received).toContain('100 Continue');
    socket.destroy();
    await expect.poll(() => product.logEntries.slice(before)).toContainEqual(expect.objectContaining({ status: 499 }));
    expect(errors()).toEqual([]);
  });
});

test.each(['//evil.example/x', '///evil.example/x'])(
  'the link that ends an override at %s stays on this site',
  async (path) => {
    const ask = (override: string) =>
      rawRequest(origin, `GET ${path}?override=${override} HTTP/1.1`, 'Host: x', 'Connection: close');
    expect(await ask('off')).toMatch(/\r\nlocation: \/evil\.example\/x\r\n/i);
    expect(await ask('A'.repeat(22))).toContain('href="/evil.example/x"');
  },
);

describe('RFC 9110', () => {
  const files = async () => {
    const html = await (await fetch(`${origin}/explore`)).text();
    return ['/explore', '/guide?x=1', /href="([^"]*host\.js)"/.exec(html)?.[1] ?? '', '/channels/production.json'];
  };

  test('read-only addresses state their methods', async () => {
    for (const path of await files())
      for (const method of ['PUT', 'DELETE', 'PATCH', 'PROPFIND', 'POST', 'OPTIONS']) {
        const { status, headers } = await fetch(origin + path, { method });
        expect([path, method, status, headers.get('allow')]).toEqual([
          path,
          method,
          method === 'OPTIONS' ? 204 : 405,
          'GET, HEAD, OPTIONS',
        ]);
      }
  });

  test('a conditional request for a missing page is 404', async () => {
    const missing = await fetch(`${origin}/no/such/page`);
    const etag = missing.headers.get('etag') ?? '*';
    for (const match of ['*', etag])
      expect((await fetch(`${origin}/no/such/page`, { headers: { 'if-none-match': match } })).status).toBe(404);
  });

  test('a refused encoding is not sent', async () => {
    for (const path of await files()) {
      const sent = async (accept: string) =>
        (await fetch(origin + path, { headers: { 'accept-encoding': accept } })).headers.get('content-encoding');
      for (const accept of ['br;q=0', 'identity;q=1, *;q=0', 'br;q=0.0, gzip;q=0'])
        expect([path, accept, await sent(accept)]).toEqual([path, accept, null]);
    }
    const { headers } = await fetch(`${origin}/explore`, { headers: { 'accept-encoding': 'BR' } });
    expect(headers.get('content-encoding')).toBe('br');
  });

  test('a known version gets 304 in every form of If-None-Match', async () => {
    for (const path of await files()) {
      const etag = (await fetch(origin + path)).headers.get('etag') ?? '';
      for (const match of [etag, `W/${etag}`, `"x", ${etag}`, `W/"x",W/${etag}`, '*']) {
        const { status } = await fetch(origin + path, { headers: { 'if-none-match': match } });
        expect([path, match, status]).toEqual([path, match, 304]);
      }
      expect((await fetch(origin + path, { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
    }
  });
});

describe('behind a proxy that names the visitor’s host in X-Forwarded-Host alone', () => {
  const forwarded = { 'x-forwarded-host': 'App.example', 'x-forwarded-proto': 'https' };

  test('reports are counted, and links and cards contain that host', async () => {
    const page = await fetch(`${behindProxy}/explore`, { headers: forwarded });
    expect(await page.text()).toContain('<meta property="og:url" content="https://app.example/explore">');
    const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? '';
    const report = async (headers: Record<string, string>) => {
      const body = JSON.stringify({ build: 'stories@1.0.0+0', set: 'abc', candidate: false, outcome: 'loaded' });
      const all = { cookie, 'content-type': 'application/json', ...forwarded, ...headers };
      return (await fetch(`${behindProxy}/beacon`, { method: 'POST', headers: all, body })).status;
    };
    expect(await report({ origin: 'https://app.example' })).toBe(204);
    expect(await report({ origin: behindProxy })).toBe(403);
  });

  test('an invalid name is ignored, and so is the header without such a proxy', async () => {
    for (const [at, name] of [
      [behindProxy, 'a b"<'],
      [behindProxy, 'evil.example/x'],
      [origin, 'evil.example'],
    ] as const) {
      const page = await fetch(`${at}/explore`, { headers: { 'x-forwarded-host': name } });
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(`content="${at}/explore"`)]);
    }
  });
});

describe('a canary of p percent', () => {
  test('is served to p percent of new visitors at every kind of address, from the first visit', async () => {
    const own = await openTestProduct();
    const site = await own.serve();
    const next = await own.publishStories('1.1.0');
    const { document } = await own.manager.canary({ builds: [next], percent: 50, force: true, why: 'test' });
    const { candidate } = document;
    if (!candidate) throw new Error('no candidate');
    // a server is at most a second behind
    await expect
      .poll(async () => (await (await fetch(`${site}/channels/production.json`)).json()) as object)
      .toMatchObject({ seq: document.seq });
    const kinds = ['/', '/explore', '/explore?tag=x', '/guide', '/story/', '/no/such/page/', '/story/dotted.'];
    const inside = { candidate: 0, stable: 0 };
    for (let visit = 0; visit < 6; visit += 1) {
      for (const kind of kinds) {
        // an address requested for the first time, and then a cached one
        const path = /[/.]$/.test(kind) && kind !== '/' ? `${kind}${visit}` : kind;
        for (const encoding of ['br', 'gzip', 'identity']) {
          const page = await fetch(site + path, { headers: { 'accept-encoding': encoding } });
          const id = /lz_visitor=([0-9a-f]{32})/.exec(page.headers.get('set-cookie') ?? '')?.[1] ?? '';
          const isTried = isInCandidate(id, candidate);
          // each visitor gets what the id in their cookie selects: no second draw
          expect([path, encoding, setIn(await page.text()).candidate]).toEqual([path, encoding, isTried]);
          inside[isTried ? 'candidate' : 'stable'] += 1;
        }
      }
    }
    expect(Math.min(inside.candidate, inside.stable)).toBeGreaterThan(0);
    own.close();
  });

  test.each([5, 50])('of %d is within 0.1 point over 400,000 ids', (percent) => {
    const salt = 'a salt';
    let count = 0;
    for (let at = 0; at < 400_000; at += 1) {
      const id = createHash('md5').update(String(at)).digest('hex');
      if (isInCandidate(id, { salt, percent })) count += 1;
    }
    expect(Math.abs(count / 4_000 - percent)).toBeLessThan(0.1);
  });
});
