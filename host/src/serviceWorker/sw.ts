/// <reference lib="webworker" />
import { registerRoute } from 'workbox-routing';
import { NetworkFirst, StaleWhileRevalidate } from 'workbox-strategies';
import { createAnswerAtOnce } from './answerAtOnce';
import {
  anyPage,
  BUILDS_CACHE,
  cachedHashes,
  cachedScreen,
  cacheFirstPage,
  cachePage,
  cacheSet,
  cacheWaitingPage,
  deleteOldMedia,
  deleteOtherBuilds,
  deleteScreens,
  isCacheablePage,
  isPageAddress,
  isPageCached,
  isReadyToCache,
  MEDIA_CACHE,
  PAGES_CACHE,
  repairTruncatedPage,
} from './caches';

declare const self: ServiceWorkerGlobalScope;

/** The Static Routing API, in Chromium since 123. */
interface RoutedInstallEvent extends ExtendableEvent {
  addRoutes?: (rule: { condition: { requestMethod: string }; source: 'network' }) => Promise<void>;
}

/** How long a navigation waits for a fresh page before the cached one's code runs, so that no switch or rollback is hidden. */
const NAVIGATION_BUDGET_SECONDS = 1.5;

self.addEventListener('install', (event) => {
  // POST requests bypass the worker: through it, a beacon would be lost when its page unloads
  void (event as RoutedInstallEvent).addRoutes?.({ condition: { requestMethod: 'POST' }, source: 'network' });
  void self.skipWaiting();
});
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

// no precache list: the page sends the files of its set
self.addEventListener('message', (event: ExtendableMessageEvent) => {
  const { type, hashes } = event.data as { type?: string; hashes?: Record<string, string> };
  if (type === 'set' && hashes) event.waitUntil(cacheSetAndPage(hashes, event.source));
  if (type === 'outdated') event.waitUntil(deleteScreens());
});

async function cacheSetAndPage(hashes: Record<string, string>, sender: ExtendableMessageEvent['source']) {
  await cacheSet(hashes);
  await cacheWaitingPage();
  await deleteOtherBuilds({ ...hashes, ...(await cachedHashes()) });
  if (sender instanceof WindowClient) await cacheFirstPage(sender.url);
}

/** Reloads a truncated page, which may lack the script that would do so. */
async function reloadTruncatedPage({ resultingClientId }: FetchEvent) {
  const client = await self.clients.get(resultingClientId);
  if (client instanceof WindowClient) await client.navigate(client.url).catch(() => null);
}

const pageStrategy = new NetworkFirst({
  cacheName: PAGES_CACHE,
  networkTimeoutSeconds: NAVIGATION_BUDGET_SECONDS,
  plugins: [
    {
      cacheKeyWillBeUsed: async () => anyPage,
      fetchDidSucceed: async ({ response }) => {
        // during a restart, the cached page, which recovers automatically, is better than a proxy's error page
        if (response.status >= 500 && (await isPageCached()))
          throw new Error(`the server answers with ${response.status}`);
        return response;
      },
      cacheWillUpdate: async ({ response, request, event }) => {
        if (!isCacheablePage(response)) return null;
        if (await repairTruncatedPage(response, request.url)) await reloadTruncatedPage(event as FetchEvent);
        else if (await isReadyToCache(response)) await cachePage(response);
        // only `cachePage` writes to the cache
        return null;
      },
    },
  ],
});

const answerAtOnce = createAnswerAtOnce();

registerRoute(
  ({ request, url }) => request.mode === 'navigate' && url.origin === self.location.origin && isPageAddress(url),
  async (navigation) => {
    const { origin, pathname, search } = navigation.url;
    const address = origin + pathname + search;
    const fresh = pageStrategy.handle(navigation);
    return (await answerAtOnce(address, await cachedScreen(address), fresh)) ?? fresh;
  },
);

// immutable by name, and cached only by `cacheSet`, which checks hashes; `?again=1` is the asset loader's retry past a corrupt copy
registerRoute(
  ({ url }) => url.pathname.startsWith('/builds/') && url.search === '',
  async ({ request }) => (await caches.match(request, { cacheName: BUILDS_CACHE })) ?? fetch(request),
);
registerRoute(
  ({ url, request }) => url.pathname.startsWith('/api/media/') && request.method === 'GET',
  new StaleWhileRevalidate({ cacheName: MEDIA_CACHE, plugins: [{ cacheDidUpdate: deleteOldMedia }] }),
);
