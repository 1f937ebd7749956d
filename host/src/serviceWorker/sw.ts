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

/** The Static Routing API, which Chromium has since 123. */
interface RoutedInstallEvent extends ExtendableEvent {
  addRoutes?: (rule: { condition: { requestMethod: string }; source: 'network' }) => Promise<void>;
}

/** Code waits this long for a fresh page before the kept one's is run; a switch or rollback is thus never hidden by the cache. */
const NAVIGATION_BUDGET_SECONDS = 1.5;

self.addEventListener('install', (event) => {
  // nothing sent is of the worker's concern, and by way of it a beacon is lost with the page that sends it as it goes
  void (event as RoutedInstallEvent).addRoutes?.({ condition: { requestMethod: 'POST' }, source: 'network' });
  void self.skipWaiting();
});
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

// no built-in list: the page says which set it runs
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

/** Half a page may have no script that could do it. */
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
        // the page of a proxy whose server restarts helps a reader less than the cached page, which continues automatically
        if (response.status >= 500 && (await isPageKept()))
          throw new Error(`the server answers with ${response.status}`);
        return response;
      },
      cacheWillUpdate: async ({ response, request, event }) => {
        if (!isWholePage(response)) return null;
        if (await mendCutPage(response, request.url)) await openAgain(event as FetchEvent);
        else if (await mayBeKept(response)) await keepPage(response);
        // kept by `keepPage` alone
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

// immutable by name, and kept by `keepSet` alone, which checks them; `?again=1` is the asset loader asking past a corrupt copy
registerRoute(
  ({ url }) => url.pathname.startsWith('/builds/') && url.search === '',
  async ({ request }) => (await caches.match(request, { cacheName: BUILDS })) ?? fetch(request),
);
registerRoute(
  ({ url, request }) => url.pathname.startsWith('/api/media/') && request.method === 'GET',
  new StaleWhileRevalidate({ cacheName: MEDIA, plugins: [{ cacheDidUpdate: forgetOldMedia }] }),
);
