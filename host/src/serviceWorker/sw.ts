/// <reference lib="webworker" />
import { registerRoute } from 'workbox-routing';
import { NetworkFirst, StaleWhileRevalidate } from 'workbox-strategies';
import { createAnswerAtOnce } from './answerAtOnce';
import {
  anyPage,
  BUILDS,
  forgetOldMedia,
  forgetOthers,
  forgetScreens,
  isPageAddress,
  isPageKept,
  isWholePage,
  keepFirstPage,
  keepPage,
  keepSet,
  keepWaitingPage,
  keptHashes,
  keptScreen,
  MEDIA,
  mayBeKept,
  mendCutPage,
  PAGES,
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
  if (type === 'set' && hashes) event.waitUntil(keep(hashes, event.source));
  if (type === 'outdated') event.waitUntil(forgetScreens());
});

async function keep(hashes: Record<string, string>, sender: ExtendableMessageEvent['source']) {
  await keepSet(hashes);
  await keepWaitingPage();
  await forgetOthers({ ...hashes, ...(await keptHashes()) });
  if (sender instanceof WindowClient) await keepFirstPage(sender.url);
}

/** Reloads a truncated page, which may lack the script that would do so. */
async function openAgain({ resultingClientId }: FetchEvent) {
  const client = await self.clients.get(resultingClientId);
  if (client instanceof WindowClient) await client.navigate(client.url).catch(() => null);
}

const pages = new NetworkFirst({
  cacheName: PAGES,
  networkTimeoutSeconds: NAVIGATION_BUDGET_SECONDS,
  plugins: [
    {
      cacheKeyWillBeUsed: async () => anyPage,
      fetchDidSucceed: async ({ response }) => {
        // during a restart, the cached page, which recovers automatically, is better than a proxy's error page
        if (response.status >= 500 && (await isPageKept()))
          throw new Error(`the server answers with ${response.status}`);
        return response;
      },
      cacheWillUpdate: async ({ response, request, event }) => {
        if (!isWholePage(response)) return null;
        if (await mendCutPage(response, request.url)) await openAgain(event as FetchEvent);
        else if (await mayBeKept(response)) await keepPage(response);
        // only `keepPage` writes to the cache
        return null;
      },
    },
  ],
});

const answerAtOnce = createAnswerAtOnce();

registerRoute(
  ({ request, url }) => request.mode === 'navigate' && url.origin === self.location.origin && isPageAddress(url),
  async (asked) => {
    const { origin, pathname, search } = asked.url;
    const address = origin + pathname + search;
    const fresh = pages.handle(asked);
    return (await answerAtOnce(address, await keptScreen(address), fresh)) ?? fresh;
  },
);

// immutable by name, and cached only by `keepSet`, which checks hashes; `?again=1` is the asset loader's retry past a corrupt copy
registerRoute(
  ({ url }) => url.pathname.startsWith('/builds/') && url.search === '',
  async ({ request }) => (await caches.match(request, { cacheName: BUILDS })) ?? fetch(request),
);
registerRoute(
  ({ url, request }) => url.pathname.startsWith('/api/media/') && request.method === 'GET',
  new StaleWhileRevalidate({ cacheName: MEDIA, plugins: [{ cacheDidUpdate: forgetOldMedia }] }),
);
