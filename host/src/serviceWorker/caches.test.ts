import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { forgetOthers, keepSet } from './buildCache';
import { forgetOldMedia } from './mediaCache';

/** The device's cache: a file whose name contains `big` does not fit. */
let kept: Map<string, Response>;
/** What the network and the browser's own cache have, by address. */
let bytes: Record<string, string>;

const addressOf = (request: string | { url: string }) =>
  new URL(typeof request === 'string' ? request : request.url, location.href).href;

const cache = {
  match: async (request: string) => kept.get(addressOf(request)),
  keys: async () => [...kept.keys()].map((url) => ({ url })),
  delete: async (request: { url: string }) => kept.delete(addressOf(request)),
  async put(url: string, answer: Response) {
    if (url.includes('big')) throw new DOMException('full', 'QuotaExceededError');
    kept.set(addressOf(url), answer);
  },
};

/** Refuses bytes that are not what `integrity` names, as a browser does. */
async function fetchFake(url: string, { integrity, cache: mode }: RequestInit = {}) {
  const found = bytes[mode === 'reload' ? `${url} (network)` : url] ?? bytes[url];
  if (integrity && integrity !== `sha384-${found}`) throw new TypeError('Failed to fetch');
  return new Response(found);
}

const before = { fetch: globalThis.fetch, caches: globalThis.caches };
beforeEach(() => {
  kept = new Map();
  bytes = {};
  Object.assign(globalThis, { fetch: fetchFake, caches: { open: async () => cache } });
});
afterEach(() => void Object.assign(globalThis, before));

const paths = () => [...kept.keys()].map((url) => new URL(url).pathname);

describe('the files of the set', () => {
  test('are kept only as the set lists them; past a corrupt copy the network is asked', async () => {
    bytes = { '/builds/a.js': 'a', '/builds/b.js': 'corrupt', '/builds/c.js': 'old', '/builds/c.js (network)': 'c' };
    await keepSet({ '/builds/a.js': 'sha384-a', '/builds/b.js': 'sha384-b', '/builds/c.js': 'sha384-c' });
    expect(paths()).toEqual(['/builds/a.js', '/builds/c.js']);
    expect(await kept.get(addressOf('/builds/c.js'))?.text()).toBe('c');
  });

  test('that do not fit keep no other from being kept, nor the former set from going', async () => {
    const hashes = { '/builds/big.js': 'sha384-big', '/builds/a.js': 'sha384-a' };
    bytes = { '/builds/big.js': 'big', '/builds/a.js': 'a' };
    kept.set(addressOf('/builds/former.js'), new Response('former'));
    await keepSet(hashes);
    await forgetOthers(hashes);
    expect(paths()).toEqual(['/builds/a.js']);
  });
});

test('of the pictures the last two hundred stay', async () => {
  for (let number = 1; number <= 203; number += 1) kept.set(addressOf(`/api/media/${number}.svg`), new Response());
  await forgetOldMedia();
  expect(paths()).toHaveLength(200);
  expect(paths()[0]).toBe('/api/media/4.svg');
});
