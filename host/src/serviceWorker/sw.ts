/// <reference lib="webworker" />
import { registerRoute } from 'workbox-routing';
import { CacheFirst, NetworkFirst, StaleWhileRevalidate } from 'workbox-strategies';
import { BUILDS, forgetOthers, keepSet } from './buildCache';

declare const self: ServiceWorkerGlobalScope;

/** A visitor waits this long for a fresh page before the kept one is shown; a switch or rollback is thus never hidden by the cache. */
const navigationBudgetSeconds = 1.5;
const PAGES = 'pages';

self.addEventListener('install', () => void self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

// no built-in list: the page says which set it runs
self.addEventListener('message', (event: ExtendableMessageEvent) => {
  const { type, urls } = event.data as { type?: string; urls?: string[] };
  if (type === 'set' && Array.isArray(urls)) event.waitUntil(keep(urls, event.source));
});

async function keep(urls: string[], teller: ExtendableMessageEvent['source']) {
  await keepSet(urls);
  await forgetOthers(urls);
  if (teller instanceof WindowClient) await keepFirstPage(teller.url);
}

// the page is the same for every address but for its preloads, so any kept one opens the app
const anyPage = new Request(new URL('/', self.location.origin));

/** The visit that brought the worker loaded its page without it; from then on each navigation keeps its own. */
async function keepFirstPage(url: string) {
  const cache = await caches.open(PAGES);
  if (await cache.match(anyPage)) return;
  const answer = await fetch(url, { headers: { accept: 'text/html' } }).catch(() => null);
  if (answer?.ok && !answer.redirected) await cache.put(anyPage, answer);
}

const pages = new NetworkFirst({ cacheName: PAGES, networkTimeoutSeconds: navigationBudgetSeconds });

registerRoute(
  ({ request, url }) => request.mode === 'navigate' && url.origin === self.location.origin,
  async (options) => {
    const answer = await pages.handle({ ...options, request: options.request }).catch(() => undefined);
    if (answer?.ok) {
      const cache = await caches.open(PAGES);
      await cache.put(anyPage, answer.clone());
    }
    return answer ?? (await caches.match(anyPage, { cacheName: PAGES })) ?? Response.error();
  },
);

// immutable by name; `?again=1` is the door asking past a corrupt copy
registerRoute(
  ({ url }) => url.pathname.startsWith('/builds/') && url.search === '',
  new CacheFirst({ cacheName: BUILDS }),
);
registerRoute(
  ({ url, request }) => url.pathname.startsWith('/api/media/') && request.method === 'GET',
  new StaleWhileRevalidate({ cacheName: 'media' }),
);
