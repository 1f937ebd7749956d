import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { isInCandidate } from '@liaozhai/releases';
import type { PageSet } from '@liaozhai/shared/contract';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from '@rstest/core';
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

/** Loads the page with the source's data: a busy server may send the first one without. */
async function rendered(path: string): Promise<Response> {
  let answer = await fetch(origin + path);
  await expect
    .poll(async () => {
      answer = await fetch(origin + path);
      return answer.clone().text();
    })
    .toContain('/api/v1/stories');
  return answer;
}

test('sec.headers: the page carries a strict policy of hashes', async () => {
  const answer = await fetch(`${origin}/explore`);
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(answer.status).toBe(200);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/script-src 'sha256-[^']+' ('sha384-[^']+' )+'strict-dynamic'/);
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toContain('unsafe');
  for (const [name, value] of Object.entries({
    'style-src': "'self' 'sha256-",
    'connect-src': "'self'",
    'img-src': "'self' data:",
    // bundlers inline small fonts into the stylesheet
    'font-src': "'self' data:",
    'manifest-src': "'self'",
    'worker-src': "'self'",
    'base-uri': "'none'",
    'object-src': "'none'",
    'form-action': "'self'",
    'frame-ancestors': "'none'",
    'trusted-types': 'liaozhai liaozhai-sw',
  }))
    expect(policy.split('; ').find((one) => one.startsWith(`${name} `))).toContain(`${name} ${value}`);
  expect(answer.headers.get('integrity-policy')).toBe('blocked-destinations=(script)');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('cache-control')).toBe('private, no-cache');
  expect(answer.headers.get('referrer-policy')).toBe('strict-origin-when-cross-origin');
  expect(answer.headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(answer.headers.get('permissions-policy')).toContain('camera=(), microphone=(), geolocation=()');
  expect(answer.headers.get('strict-transport-security')).toBeNull();
});

test('sec.headers: only a trusted proxy can state that the page came by https', async () => {
  const secured = async (at: string) => {
    const { headers } = await fetch(`${at}/explore`, { headers: { 'x-forwarded-proto': 'https' } });
    return [headers.get('strict-transport-security'), headers.get('set-cookie')?.includes('Secure')];
  };
  expect(await secured(behindProxy)).toEqual([expect.stringContaining('max-age=31536000'), true]);
  expect(await secured(origin)).toEqual([null, false]);
});

test('the page preloads its route’s files with hashes, and contains its set', async () => {
  const html = await (await fetch(`${origin}/explore`)).text();
  for (const file of ['host.js', 'remoteEntry.js', 'remote.js', 'explore.js'])
    expect(html).toMatch(new RegExp(`rel="preload" as="script" href="[^"]*${file}" integrity="sha384-`));
  expect(html).toContain('id="liaozhai-set"');
  expect(html).toContain('<title>发现 · 聊斋</title>');
});

test('an unchanged page is sent without a body', async () => {
  const first = await fetch(`${origin}/explore`);
  const again = await fetch(`${origin}/explore`, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
  expect(again.status).toBe(304);
});

test('an unknown address is a 404 with the page, a missing file a 404 without it', async () => {
  const page = await fetch(`${origin}/no/such/page`);
  expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  for (const path of ['/builds/stories/1.0.0-0/none.js', '/sitemap.xml']) {
    const file = await fetch(`${origin}${path}`);
    expect([file.status, await file.text()]).toEqual([404, 'not found']);
  }
});

test('a form post from a payment provider gets the page, other posts are refused', async () => {
  const post = (path: string, accept: string, body = 'x') =>
    fetch(origin + path, { method: 'POST', body, headers: { accept }, redirect: 'manual' });
  const back = await post('/my/wallet/orders/7?paid=1&override=off', 'text/html,*/*;q=0.8', 'x'.repeat(20_000));
  expect([back.status, back.headers.get('location')]).toEqual([303, '/my/wallet/orders/7?paid=1']);
  expect((await post('//evil.example/x', 'text/html')).headers.get('location')).toBe('/evil.example/x');
  expect((await post('/explore', 'application/json')).status).toBe(405);
});

test('a story whose id looks like a file opens by its link', async () => {
  const page = await fetch(`${origin}/story/nie.xiaoqian`);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
});

test('build files are immutable, compressed ahead of time, and open to other origins', async () => {
  const html = await (await fetch(`${origin}/explore`)).text();
  const path = /href="([^"]*host\.js)"/.exec(html)?.[1] ?? '';
  const answer = await fetch(`${origin}${path}`, { headers: { 'accept-encoding': 'br' } });
  expect(answer.headers.get('cache-control')).toContain('immutable');
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(answer.headers.get('content-encoding')).toBe('br');
});

test('the backend receives the proxy’s forwarding headers, not the visitor’s', async () => {
  const answer = await fetch(`${origin}/api/v1/stories?cursor=x`, {
    headers: { 'x-forwarded-for': '6.6.6.6', 'x-forwarded-host': 'evil.example' },
  });
  const { url, headers } = (await answer.json()) as { url: string; headers: Record<string, string> };
  expect(url).toBe('/api/v1/stories?cursor=x');
  expect(headers['x-forwarded-for']).not.toContain('6.6.6.6');
  expect(headers['x-forwarded-host']).toBe(new URL(origin).host);
});

describe('an override link', () => {
  const open = (site: string, id: string) =>
    fetch(`${site}/explore?override=${id}&tag=%22%3E1`, { redirect: 'manual' });

  test('sets its cookie and redirects to the address without it', async () => {
    const own = await openTestProduct();
    onTestFinished(() => own.close());
    const site = await own.serve();
    const { id } = await own.manager.override({ builds: [await own.publishStories('1.1.0')], hours: 1 });
    const answer = await open(site, id);
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toBe('/explore?tag=%22%3E1');
    // as long as the longest override: the release store decides when it ends
    expect(answer.headers.get('set-cookie')).toMatch(new RegExp(`lz_override=${id}; Max-Age=604800;.*HttpOnly`));
  });

  test.each(['abc', '%00', 'x'.repeat(200), '..%2F..%2Fkeys'])(
    'with the invalid id %s shows a notice and changes nothing',
    async (id) => {
      const answer = await open(origin, id);
      expect(answer.status).toBe(410);
      expect(answer.headers.get('set-cookie')).toBeNull();
      const page = await answer.text();
      expect(page).toContain('临时链接已失效');
      expect(page).toContain('href="/explore?tag=%22%3E1"');
    },
  );

  test('that has expired shows a notice on the next reload only', async () => {
    const own = await openTestProduct();
    onTestFinished(() => own.close());
    const site = await own.serve();
    const build = await own.publishStories('1.1.0');
    const { id } = await own.manager.override({ builds: [build], hours: 1 });
    const headers = { cookie: `lz_override=${id}` };
    expect(await (await fetch(`${site}/explore`, { headers })).text()).toContain(`"id":"${id}"`);
    await own.manager.kill({ build });
    const isEnded = async () => (await fetch(`${site}/explore`, { headers })).status === 410;
    await expect.poll(isEnded, { timeout: 20_000 }).toBe(true);
    // a service worker or a prefetch is not what a person looks at
    const unseen = await fetch(`${site}/explore`, { headers: { ...headers, 'sec-fetch-dest': 'empty' } });
    expect(unseen.status).toBe(200);
    const answer = await fetch(`${site}/explore?tag=1`, { headers });
    expect(answer.headers.get('set-cookie')).toContain('lz_override=;');
    const text = await answer.text();
    expect(text).toContain('临时链接已失效');
    expect(text).toContain('href="/explore?tag=1"');
  });

  test('ends with `off`', async () => {
    const answer = await open(origin, 'off');
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/explore?tag=%22%3E1']);
    expect(answer.headers.get('set-cookie')).toContain('lz_override=;');
  });
});

test('files of the host build answer at the root', async () => {
  const answer = await fetch(`${origin}/favicon.svg`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
});

test('the page contains the prerendered content, its hashed style and its data', async () => {
  const answer = await rendered('/explore');
  const html = await answer.text();
  expect(html).toContain('<div id="root"><main><p class="card">/api/v1/stories</p></main></div>');
  const css = /<style data-href="[^"]*explore\.css">([^<]*)<\/style>/.exec(html)?.[1] ?? '';
  const hash = createHash('sha256').update(css).digest('base64');
  expect(answer.headers.get('content-security-policy')).toContain(`'sha256-${hash}'`);
  expect(html).toContain('<script type="application/json" id="liaozhai-first">{"url":"/api/v1/stories"');
});

test('a screen without data is complete in the page, without a call to the backend', async () => {
  const asked = product.backendRequests.length;
  for (const visit of ['first', 'from memory']) {
    const html = await (await fetch(`${origin}/guide`)).text();
    expect(html, visit).toContain('<main><p class="card">read me</p></main>');
    expect(html, visit).toMatch(/<style data-href="[^"]*explore.css">.card/);
    expect(html, visit).not.toContain('id="liaozhai-first"');
  }
  expect(product.backendRequests).toHaveLength(asked);
});

test('a shared link carries title, description and picture', async () => {
  const html = await (await rendered('/story/nie-xiaoqian?from=chat')).text();
  const title = '&quot;/api/v1/stories/nie-xiaoqian&quot;';
  expect(html).toContain(`<title>${title} · 聊斋</title>`);
  expect(html).toContain(`<meta property="og:title" content="${title}">`);
  expect(html).toContain('<meta name="description" content="application/json">');
  expect(html).toContain(`<meta property="og:image" content="${origin}/covers/1.png">`);
  expect(html).toContain(`<meta property="og:url" content="${origin}/story/nie-xiaoqian">`);
});

describe('search engines', () => {
  const head = async (path: string, at = origin, headers = {}) => {
    const html = await (await fetch(at + path, { headers })).text();
    return /<link rel="canonical" href="([^"]*)">|<meta name="robots" content="noindex">/.exec(html);
  };

  test.each([
    ['/explore?tag=x&invite=ABC', '/explore'],
    ['/', '/explore'],
    ['//explore/', '/explore'],
    ['/story/nie%2Dxiaoqian?chat=1', '/story/nie-xiaoqian'],
    ['/story/小倩', '/story/%E5%B0%8F%E5%80%A9'],
    ['/story/a%22%3E%3Cb', '/story/a%22%3E%3Cb'],
    ['/story/%zz', '/story/%25zz'],
    ['/guide', '/guide'],
  ])('get one address for %s: %s', async (asked, canonical) => {
    expect((await head(asked))?.[1]).toBe(origin + canonical);
  });

  test('get the address in the visitor’s address bar', async () => {
    const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'app.example' };
    expect((await head('/explore', behindProxy, proxied))?.[1]).toBe('https://app.example/explore');
  });

  test.each(['/tasks', '/no/such/page', '/test/list', '/reset-password?token=x'])(
    'are excluded from %s',
    async (path) => {
      expect((await head(path))?.[0]).toContain('noindex');
    },
  );

  test('may read pages, calls and builds by robots.txt', async () => {
    const answer = await fetch(`${origin}/robots.txt`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const lines = (await answer.text()).trim().split('\n');
    expect(lines).toContain('User-agent: *');
    const closed = lines.filter((line) => line.startsWith('Disallow: ')).map((line) => line.slice(10));
    for (const path of ['/explore', '/story/nie-xiaoqian', '/api/v1/stories', '/builds/host/x/host.js'])
      expect(
        closed.some((prefix) => path.startsWith(prefix)),
        path,
      ).toBe(false);
  });
});

describe('security.txt', () => {
  const settings = {
    SECURITY_CONTACT: 'mailto:security@app.example, https://app.example/report',
    SECURITY_EXPIRES: `${new Date().getUTCFullYear() + 1}-01-01T00:00:00Z`,
  };
  const read = async (own: NodeJS.ProcessEnv) => fetch(`${await product.serve(own)}/.well-known/security.txt`);

  test('contains each contact, its expiry and its address', async () => {
    const answer = await read({ ...settings, SECURITY_POLICY: 'https://app.example/security' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect((await answer.text()).split('\n')).toEqual([
      'Contact: mailto:security@app.example',
      'Contact: https://app.example/report',
      `Expires: ${settings.SECURITY_EXPIRES}`,
      'Preferred-Languages: zh, en',
      `Canonical: ${new URL(answer.url).origin}/.well-known/security.txt`,
      'Policy: https://app.example/security',
      '',
    ]);
  });

  test('is not served without a contact or after its expiry', async () => {
    expect((await read({})).status).toBe(404);
    expect((await read({ ...settings, SECURITY_EXPIRES: '2020-01-01T00:00:00Z' })).status).toBe(404);
  });
});

test('requests for many stories do not fill the memory: the oldest response is dropped', async () => {
  const visit = async (story: string) => (await fetch(`${origin}/story/${story}`)).text();
  await visit('first');
  await Promise.all(Array.from({ length: 200 }, (_, index) => visit(`made-up-${index}`)));
  await visit('first');
  expect(product.backendRequests.filter((url) => url === '/api/v1/stories/first')).toHaveLength(2);
});

describe('operation', () => {
  test('ops.log: a request has one id in page, log, backend and response; the log omits queries', async () => {
    const id = 'page-request-0123';
    const asked = `${origin}/api/v1/email/verify/1/abc?signature=secret`;
    const answer = await fetch(asked, { headers: { 'X-Request-Id': id } });
    const told = (await answer.json()) as { headers: Record<string, string> };
    expect([answer.headers.get('x-request-id'), told.headers['x-request-id']]).toEqual([id, id]);
    const entry = () => product.logEntries.find(({ requestId }) => requestId === id);
    await expect.poll(entry).toMatchObject({
      level: 'info',
      service: 'front',
      method: 'GET',
      path: '/api/v1/email/verify/1/abc',
      status: 200,
      ms: expect.any(Number),
    });
    expect(JSON.stringify(product.logEntries)).not.toContain('secret');
  });

  test('a request without an id gets one, and an unsafe id is replaced', async () => {
    for (const given of [undefined, 'x', 'a b"c{d}efgh', 'x'.repeat(65)]) {
      const answer = await fetch(`${origin}/explore`, { headers: given ? { 'X-Request-Id': given } : {} });
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test('ops.health: /healthz reports that the server runs, /readyz whether it can serve visitors', async () => {
    const ask = async (at: string, path: string) => {
      const answer = await fetch(at + path);
      return [answer.status, answer.headers.get('cache-control'), await answer.json()];
    };
    expect(await ask(origin, '/healthz')).toEqual([200, 'no-store', { status: 'ok' }]);
    expect(await ask(origin, '/readyz')).toEqual([200, 'no-store', { status: 'ready', pages: true, backend: true }]);
    const alone = await product.serve({}, { backendUrl: () => 'http://127.0.0.1:9' });
    expect(await ask(alone, '/healthz')).toEqual([200, 'no-store', { status: 'ok' }]);
    expect(await ask(alone, '/readyz')).toEqual([
      503,
      'no-store',
      {
        status: 'unavailable',
        pages: true,
        backend: false,
        why: 'the backend does not answer, or is not ready itself',
      },
    ]);
    const restarted = await product.serve({}, { secondsUntilRestart: () => 3 });
    expect((await ask(restarted, '/readyz'))[2]).toMatchObject({ status: 'unavailable', backend: false });
    const leaving = await product.serve({}, { isDraining: () => true });
    expect(await ask(leaving, '/readyz')).toEqual([503, 'no-store', { status: 'draining' }]);
    expect((await fetch(`${leaving}/explore`)).status).toBe(200);
  });
});

describe('page.memory: the cache', () => {
  const told = ({ status, headers }: Response) => {
    // the length changes once the page is compressed better
    const varying = /^(date|x-request-id|set-cookie|content-length)$/;
    const own = Object.fromEntries([...headers].filter(([name]) => !varying.test(name)));
    return { status, headers: own };
  };
  const raw = (path: string, headers: Record<string, string> = {}) =>
    new Promise<{ headers: IncomingHttpHeaders; status?: number; body: Buffer }>((resolve, reject) => {
      get(origin + path, { headers }, async (response) => {
        const body: Buffer[] = [];
        for await (const chunk of response) body.push(chunk as Buffer);
        resolve({ headers: response.headers, status: response.statusCode, body: Buffer.concat(body) });
      }).once('error', reject);
    });

  test('a page from memory has the same bytes and headers as a routed one, with the visitor’s own id', async () => {
    await rendered('/explore');
    const first = await fetch(`${origin}/explore`);
    // a query bypasses the cache
    const routed = await fetch(`${origin}/explore?from=chat`);
    expect(told(first)).toEqual(told(routed));
    expect(await first.text()).toBe(await routed.text());
    const second = await fetch(`${origin}/explore`);
    const cookies = [first, second].map(({ headers }) => headers.get('set-cookie') ?? '');
    for (const cookie of cookies)
      expect(cookie).toMatch(/^lz_visitor=[0-9a-f]{32}; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(cookies[0]).not.toBe(cookies[1]);
    const known = await fetch(`${origin}/explore`, { headers: { cookie: cookies[0]?.split(';')[0] ?? '' } });
    expect(known.headers.get('set-cookie')).toBeNull();
    const again = await fetch(`${origin}/explore`, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
  });

  test('each encoding and each address has its own page', async () => {
    for (const encoding of ['br', 'gzip', 'br']) {
      const { headers, body } = await raw('/explore', { 'accept-encoding': encoding });
      const html = encoding === 'br' ? brotliDecompressSync(body) : gunzipSync(body);
      expect([headers['content-encoding'], html.toString('utf8').includes('id="liaozhai-set"')]).toEqual([
        encoding,
        true,
      ]);
    }
    for (const host of ['one.example', 'two.example', 'one.example']) {
      const { body } = await raw('/explore', { host });
      expect(body.toString('utf8')).toContain(`<meta property="og:url" content="http://${host}/explore">`);
    }
  });

  test('a page that is requested again is compressed better and has the same content', async () => {
    await rendered('/explore');
    const request = () => raw('/explore', { 'accept-encoding': 'br', host: 'packed.example' });
    let first = await request();
    const again = async () => {
      const later = await request();
      expect(later.headers['content-length']).toBe(String(later.body.length));
      // a busy server may send the first page without the backend’s prices
      if (later.headers.etag !== first.headers.etag) first = later;
      expect(brotliDecompressSync(later.body).equals(brotliDecompressSync(first.body))).toBe(true);
      return later.body.length / first.body.length;
    };
    await expect.poll(again, { timeout: 120_000 }).toBeLessThan(0.95);
  });

  test('a page from memory respects the visitor’s candidates, overrides and switches', async () => {
    const own = await openTestProduct();
    onTestFinished(() => own.close());
    const site = await own.serve();
    const setOf = async (id: string, more = '') => {
      const answer = await fetch(`${site}/explore`, { headers: { cookie: `lz_visitor=${id}${more}` } });
      const json = /id="liaozhai-set">([^<]*)</.exec(await answer.text())?.[1] ?? '{}';
      return JSON.parse(json) as PageSet;
    };
    const visitors = Array.from({ length: 16 }, (_, index) => index.toString(16).padStart(32, '0'));
    for (const id of visitors) expect((await setOf(id)).candidate).toBe(false);
    const next = await own.publishStories('1.1.0');
    const { document } = await own.manager.canary({ builds: [next], percent: 50, force: true, why: 'test' });
    const { candidate } = document;
    if (!candidate) throw new Error('no candidate');
    await expect.poll(async () => (await setOf(visitors[0] ?? '')).seq).toBe(document.seq);
    for (const id of [...visitors, ...visitors]) {
      const { candidate: isTried, remotes } = await setOf(id);
      expect([isTried, remotes.stories?.id === next]).toEqual(Array(2).fill(isInCandidate(id, candidate)));
    }
    const outside = visitors.find((id) => !isInCandidate(id, candidate)) ?? '';
    const { id: link } = await own.manager.override({ builds: [next], hours: 1 });
    expect((await setOf(outside, `; lz_override=${link}`)).remotes.stories?.id).toBe(next);
    expect((await setOf(outside)).override).toBeNull();
    const switched = await own.manager.activate({ builds: [next], force: true, why: 'test' });
    await expect.poll(async () => (await setOf(outside)).seq).toBe(switched.document.seq);
    expect((await setOf(outside)).remotes.stories?.id).toBe(next);
  });

  test('files from memory keep their headers and 304; compressed copies have no address', async () => {
    const html = await (await fetch(`${origin}/explore`)).text();
    const path = /href="([^"]*host\.js)"/.exec(html)?.[1] ?? '';
    const first = await raw(path, { 'accept-encoding': 'br' });
    const { date: _, 'x-request-id': firstId, ...before } = first.headers;
    const second = await raw(path, { 'accept-encoding': 'br', 'x-request-id': 'page-request-0456' });
    const { date: __, 'x-request-id': secondId, ...after } = second.headers;
    expect(after).toEqual(before);
    expect([firstId?.length, secondId]).toEqual([36, 'page-request-0456']);
    expect(second.body).toEqual(first.body);
    const unchanged = await raw(path, { 'accept-encoding': 'br', 'if-none-match': before.etag ?? '' });
    expect([unchanged.status, unchanged.body.length]).toEqual([304, 0]);
    expect((await raw(path)).headers['content-encoding']).toBeUndefined();
    expect((await raw(`${path}.br`)).status).toBe(404);
    const entry = () => product.logEntries.find(({ requestId }) => requestId === 'page-request-0456');
    await expect.poll(entry).toMatchObject({ path, status: 200 });
  });

  function moveClock(aheadMs: () => number) {
    const running = performance.now;
    const start = performance.now();
    performance.now = () => start + aheadMs();
    onTestFinished(() => {
      performance.now = running;
    });
  }

  /** A site whose backend has one story, and a clock that the test sets. */
  async function toldAnew() {
    const at = { title: '聂小倩', ahead: 0, asked: 0 };
    moveClock(() => at.ahead);
    const backend = createServer((request, response) => {
      if (request.url !== '/api/v1/capabilities') at.asked += 1;
      response.end(JSON.stringify({ url: at.title, headers: {} }));
    });
    backend.listen(0, '127.0.0.1');
    onTestFinished(() => void backend.close());
    await once(backend, 'listening');
    const { port } = backend.address() as AddressInfo;
    const site = await product.serve({}, { backendUrl: () => `http://127.0.0.1:${port}` });
    const page = async () => (await fetch(`${site}/explore`)).text();
    await expect.poll(page).toContain('<p class="card">聂小倩</p>');
    return { at, page };
  }

  test('capabilities and prices of the backend are in every page and follow changes', async () => {
    let has: string[] | null = ['stories.search'];
    const backend = createServer((request, response) => {
      const isKnown = request.url === '/api/v1/capabilities' && has !== null;
      response.statusCode = isKnown ? 200 : 404;
      response.end(JSON.stringify(isKnown ? { data: has, rules: { continue_price: 7 } } : {}));
    });
    backend.listen(0, '127.0.0.1');
    onTestFinished(() => void backend.close());
    await once(backend, 'listening');
    const { port } = backend.address() as AddressInfo;
    const config = { rules: { continuePrice: 1 } };
    const site = await product.serve({}, { backendUrl: () => `http://127.0.0.1:${port}`, config });
    let ahead = 0;
    moveClock(() => ahead);
    const told = async () => {
      ahead += 5_001;
      const html = await (await fetch(`${site}/my`)).text();
      const [, config = '{}'] = /id="liaozhai-config">([^<]*)</.exec(html) ?? [];
      const { capabilities, rules } = JSON.parse(config);
      return [capabilities, rules];
    };
    await expect.poll(told).toEqual([['stories.search'], { continuePrice: 7 }]);
    has = null;
    // the site's own prices apply if the backend sends none
    await expect.poll(told).toEqual([undefined, { continuePrice: 1 }]);
  });

  test('a new response of the backend is in the page after five seconds', async () => {
    const { at, page } = await toldAnew();
    at.title = '画皮';
    expect(await page()).toContain('<p class="card">聂小倩</p>');
    at.ahead = 5_001;
    await expect
      .poll(() => {
        at.ahead += 5_001;
        return page();
      })
      .toContain('<p class="card">画皮</p>');
  });

  test('a frequently requested page does not wait for the backend: its data is renewed before it expires', async () => {
    const { at, page } = await toldAnew();
    const before = at.asked;
    at.title = '画皮';
    at.ahead = 4_500;
    expect(await page()).toContain('<p class="card">聂小倩</p>');
    await expect.poll(() => at.asked).toBe(before + 1);
    await expect.poll(page).toContain('<p class="card">画皮</p>');
    expect(at.asked).toBe(before + 1);
  });
});
