import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import {
  anyPage,
  cachedHashes,
  cacheFirstPage,
  cachePage,
  cacheSet,
  cacheWaitingPage,
  deleteOldMedia,
  deleteOtherBuilds,
  isReadyToCache,
  repairTruncatedPage,
} from './caches';

/** The cache of builds and pictures; a file whose name contains `big` does not fit. */
let kept: Map<string, Response>;
let pages: Map<string, Response>;
let waiting: Map<string, Response>;
let screens: Map<string, Response>;
/** Files of the network and the HTTP cache, by address. */
let bytes: Record<string, string>;

const addressOf = (request: string | { url: string }) =>
  new URL(typeof request === 'string' ? request : request.url, location.href).href;

const cacheOf = (entries: Map<string, Response>) => ({
  match: async (request: string) => entries.get(addressOf(request)),
  keys: async () => [...entries.keys()].map((url) => ({ url })),
  delete: async (request: string | { url: string }) => entries.delete(addressOf(request)),
  async put(url: string, answer: Response) {
    if (url.includes('big')) throw new DOMException('full', 'QuotaExceededError');
    entries.set(addressOf(url), answer);
  },
});

const open = async (name: string) => cacheOf({ pages, 'waiting-page': waiting, screens }[name] ?? kept);
const forget = async (_: 'screens') => screens.clear();

/** Rejects bytes that do not match `integrity`, as a browser does. */
async function fetchFake(url: string, { integrity, cache: mode }: RequestInit = {}) {
  const found = bytes[mode === 'reload' ? `${url} (network)` : url] ?? bytes[url];
  if (integrity && integrity !== `sha384-${found}`) throw new TypeError('Failed to fetch');
  return new Response(found, { status: found === 'overloaded' ? 503 : 200 });
}

const before = { fetch: globalThis.fetch, caches: globalThis.caches };
beforeEach(() => {
  kept = new Map();
  pages = new Map();
  waiting = new Map();
  screens = new Map();
  bytes = {};
  Object.assign(globalThis, { fetch: fetchFake, caches: { open, delete: forget } });
});
afterEach(() => void Object.assign(globalThis, before));

const paths = () => [...kept.keys()].map((url) => new URL(url).pathname);

describe('the files of the set', () => {
  test('are kept only as the set lists them; past a corrupt copy the network is asked', async () => {
    bytes = { '/builds/a.js': 'a', '/builds/b.js': 'corrupt', '/builds/c.js': 'old', '/builds/c.js (network)': 'c' };
    await cacheSet({ '/builds/a.js': 'sha384-a', '/builds/b.js': 'sha384-b', '/builds/c.js': 'sha384-c' });
    expect(paths()).toEqual(['/builds/a.js', '/builds/c.js']);
    expect(await kept.get(addressOf('/builds/c.js'))?.text()).toBe('c');
  });

  test('are left for later where the server is overloaded', async () => {
    bytes = { '/builds/a.js': 'a', '/builds/b.js': 'overloaded', '/builds/c.js': 'c' };
    await cacheSet({ '/builds/a.js': 'sha384-a', '/builds/b.js': 'sha384-overloaded', '/builds/c.js': 'sha384-c' });
    expect(paths()).toEqual(['/builds/a.js']);
  });

  test('that do not fit keep no other from being kept, nor the former set from going', async () => {
    const hashes = { '/builds/big.js': 'sha384-big', '/builds/a.js': 'sha384-a' };
    bytes = { '/builds/big.js': 'big', '/builds/a.js': 'a' };
    kept.set(addressOf('/builds/former.js'), new Response('former'));
    await cacheSet(hashes);
    await deleteOtherBuilds(hashes);
    expect(paths()).toEqual(['/builds/a.js']);
  });
});

describe('the page', () => {
  const page = (edition: string, init?: ResponseInit, path = '/explore') => {
    const set = {
      host: { entry: `/builds/host/${edition}.js` },
      hashes: { [`/builds/host/${edition}.js`]: `sha384-${edition}` },
    };
    const html = `<script type="application/json" id="liaozhai-set">${JSON.stringify(set)}</script></html>\n`;
    return Object.defineProperty(new Response(html, init), 'url', { value: addressOf(path) });
  };

  test('of another host waits until its files are there, and the kept one keeps its own till then', async () => {
    kept.set(addressOf('/builds/host/1.js'), new Response('1'));
    pages.set(anyPage, page('1'));
    expect(await isReadyToCache(page('2'))).toBe(false);
    await cacheWaitingPage();
    expect(Object.keys(await cachedHashes())).toEqual(['/builds/host/1.js']);
    bytes = { '/builds/host/2.js': '2' };
    await cacheWaitingPage();
    expect(Object.keys(await cachedHashes())).toEqual(['/builds/host/2.js']);
    expect(waiting.size).toBe(0);
  });

  test('of the same host is cached immediately, over one that waits', async () => {
    kept.set(addressOf('/builds/host/1.js'), new Response('1'));
    await isReadyToCache(page('2'));
    expect(await isReadyToCache(page('1'))).toBe(true);
    expect(waiting.size).toBe(0);
  });

  test('whose end is missing is requested past the browser’s cache, and opens again if it is whole then', async () => {
    const whole = await page('1').text();
    const half = whole.slice(0, 40);
    const answer = (html: string) => new Response(html, { headers: { 'content-type': 'text/html' } });
    let network = half;
    const fetch = async (_: string, { cache }: RequestInit) => answer(cache === 'reload' ? network : half);
    Object.assign(globalThis, { fetch });
    expect(await repairTruncatedPage(answer(half), '/story/nie-xiaoqian')).toBe(false);
    network = whole;
    expect(await repairTruncatedPage(answer(half), '/story/nie-xiaoqian')).toBe(true);
    expect(await repairTruncatedPage(answer(whole), '/story/nie-xiaoqian')).toBe(false);
  });

  test('whose end is missing is never kept, now or later', async () => {
    kept.set(addressOf('/builds/host/1.js'), new Response('1'));
    const half = new Response((await page('1').text()).replace('</html>', ''));
    expect(await isReadyToCache(half)).toBe(false);
    expect(waiting.size).toBe(0);
  });

  const addresses = () => [...screens.keys()].map((url) => url.slice(location.origin.length));

  test('also stands for its own address, together with others of its set', async () => {
    await cachePage(page('1'));
    await cachePage(page('1', {}, '/my'));
    await cachePage(page('1', {}, '/story/hua-pi?chat=1'));
    expect(addresses()).toEqual(['/explore', '/my']);
    await cachePage(page('2', {}, '/my'));
    expect(addresses()).toEqual(['/my']);
  });

  test('is kept for the twenty addresses of late', async () => {
    for (let story = 1; story <= 22; story += 1) await cachePage(page('1', {}, `/story/${story}`));
    expect(addresses()).toHaveLength(20);
    expect(addresses()[0]).toBe('/story/3');
  });

  const html = { headers: { 'content-type': 'text/html; charset=utf-8' } };
  const redirected = () => Object.defineProperty(page('1', html), 'redirected', { value: true });
  const firstPages: [string, string, () => Response, string[]][] = [
    ['is kept for every address', '/explore', () => page('1', html), [anyPage]],
    ['that led elsewhere is not kept', '/explore', redirected, []],
    ['that is an error is not kept', '/explore', () => page('1', { ...html, status: 503 }), []],
    [
      'with code of a dev server is not kept',
      '/explore',
      () => page('1', { headers: { ...html.headers, 'cache-control': 'private, no-store' } }),
      [],
    ],
    ['that is no document is not kept', '/explore', () => page('1'), []],
    ['of an address that is no screen is not kept', '/api/v1/user', () => page('1', html), []],
  ];
  test.each(firstPages)('of the first visit %s', async (_, path, answer, expected) => {
    kept.set(addressOf('/builds/host/1.js'), new Response('1'));
    Object.assign(globalThis, { fetch: async () => answer() });
    await cacheFirstPage(new URL(path, location.href).href);
    expect([...pages.keys()]).toEqual(expected);
  });
});

test('of the pictures the last two hundred stay', async () => {
  for (let number = 1; number <= 203; number += 1) kept.set(addressOf(`/api/media/${number}.svg`), new Response());
  await deleteOldMedia();
  expect(paths()).toHaveLength(200);
  expect(paths()[0]).toBe('/api/media/4.svg');
});
