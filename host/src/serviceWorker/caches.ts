import { PAGE_ELEMENTS, reservedSegments } from '@liaozhai/shared/contract';

export const PAGES_CACHE = 'pages';
const WAITING_CACHE = 'waiting-page';
const SCREENS_CACHE = 'screens';

/** Key of the one page that serves every address: pages differ only in preloads and prerendered content, which names its address. */
export const anyPage = new URL('/', location.origin).href;

const reservedPath = new RegExp(`^/(${reservedSegments.join('|')})(/|$)`);
const setElementPattern = new RegExp(`id="${PAGE_ELEMENTS.set}">([^<]*)<`);
const isFile = /\.[a-z0-9]{2,11}$/i;

/** Whether the app opens at an address, rather than the backend, a channel or a file. */
export const isPageAddress = ({ pathname }: URL) => !reservedPath.test(pathname) && !isFile.test(pathname);

/** Whether a response is a page that may be cached. Pages that run or offer a dev server's code are `no-store`. */
export const isCacheablePage = ({ status, headers }: Response) =>
  status === 200 &&
  (headers.get('content-type') ?? '').startsWith('text/html') &&
  !headers.get('cache-control')?.includes('no-store');

interface CachedSet {
  host: { entry: string };
  hashes: Record<string, string>;
}

const textOf = async (page: Response | undefined) => (await page?.clone().text()) ?? '';

function parseSet(html: string): CachedSet {
  const [, json] = setElementPattern.exec(html) ?? [];
  return json ? (JSON.parse(json) as CachedSet) : { host: { entry: '' }, hashes: {} };
}

/** A truncated gzip response can decode to a prefix that looks like a valid page. */
export const hasEndTag = (html: string) => html.trimEnd().endsWith('</html>');

/**
 * Whether a page may replace the cached one. If its host's script is not cached, it would not work offline, so it is stored for
 * `cacheWaitingPage`. A truncated page is never stored.
 */
export async function isReadyToCache(page: Response): Promise<boolean> {
  const html = await textOf(page);
  if (!hasEndTag(html)) return false;
  const { host } = parseSet(html);
  const isReady = (await cachedIn(BUILDS_CACHE, host.entry)) !== undefined;
  const waiting = await caches.open(WAITING_CACHE);
  if (isReady) await waiting.delete(anyPage);
  else await waiting.put(anyPage, page.clone());
  return isReady;
}

/**
 * Replaces a truncated page in the HTTP cache, which each 304 would bring back. Returns true if the page was truncated and is
 * whole now.
 */
export async function repairTruncatedPage(page: Response, url: string): Promise<boolean> {
  if (hasEndTag(await textOf(page))) return false;
  const response = await fetch(url, { cache: 'reload', headers: { accept: 'text/html' } }).catch(() => null);
  return response !== null && isCacheablePage(response) && hasEndTag(await response.text());
}

const cachedIn = async (name: string, url: string) => (await caches.open(name)).match(url);

export const isPageCached = async (): Promise<boolean> => (await cachedIn(PAGES_CACHE, anyPage)) !== undefined;

/** Deletes the entries beyond a number: a cache lists them in the order they were written. */
async function trim(name: string, most: number) {
  const cache = await caches.open(name);
  const requests = await cache.keys();
  for (const request of requests.slice(0, -most)) await cache.delete(request);
}

const MAX_SCREENS = 20;

/** Caches a page for any address and for its own. Deletes pages of another set, since builds that only they need are deleted next. */
export async function cachePage(page: Response) {
  const pages = await caches.open(PAGES_CACHE);
  const [formerHtml, newestHtml] = await Promise.all([textOf(await pages.match(anyPage)), textOf(page)]);
  if (setElementPattern.exec(formerHtml)?.[1] !== setElementPattern.exec(newestHtml)?.[1]) await deleteScreens();
  await pages.put(anyPage, page.clone());
  if (new URL(page.url).search) return;
  await (await caches.open(SCREENS_CACHE)).put(page.url, page.clone());
  await trim(SCREENS_CACHE, MAX_SCREENS);
}

/** The page last shown at an address, of the cached set. */
export const cachedScreen = (url: string) => cachedIn(SCREENS_CACHE, url);

export const deleteScreens = () => caches.delete(SCREENS_CACHE);

export const deleteScreen = async (url: string) => (await caches.open(SCREENS_CACHE)).delete(url);

/** Caches the files of the waiting page, then the page. */
export async function cacheWaitingPage() {
  const page = await cachedIn(WAITING_CACHE, anyPage);
  if (!page) return;
  await cacheSet(parseSet(await textOf(page)).hashes);
  if (await isReadyToCache(page)) await cachePage(page);
}

/** Files of the cached page's set (address → integrity). */
export const cachedHashes = async () => parseSet(await textOf(await cachedIn(PAGES_CACHE, anyPage))).hashes;

/** Caches the page of the visit that installed the worker, since it was loaded without it. */
export async function cacheFirstPage(url: string) {
  if (!isPageAddress(new URL(url)) || (await isPageCached())) return;
  const response = await fetch(url, { headers: { accept: 'text/html' } }).catch(() => null);
  if (!response || !isCacheablePage(response) || response.redirected) return;
  if (await isReadyToCache(response)) await cachePage(response);
  else await cacheWaitingPage();
}

export const BUILDS_CACHE = 'builds';

/** Fetches a file with its integrity hash. The retry bypasses the HTTP cache, which may hold corrupt bytes. */
const fetchVerified = (url: string, integrity: string) =>
  fetch(url, { integrity })
    .catch(() => fetch(url, { integrity, cache: 'reload' }))
    .catch(() => null);

/** Caches every file of the set (address → integrity), one after another so that the page's own requests go first. */
export async function cacheSet(hashes: Record<string, string>) {
  const cache = await caches.open(BUILDS_CACHE);
  const isWechat = navigator.userAgent.includes('MicroMessenger');
  for (const [url, integrity] of Object.entries(hashes)) {
    if (/\/wechat\.\w+\.js$/.test(url) && !isWechat) continue;
    if (await cache.match(url)) continue;
    const response = await fetchVerified(url, integrity);
    // the page's next message retries
    if (response?.status === 429 || response?.status === 503) return;
    // a full device stores what it can, and still deletes what is no longer needed
    if (response?.ok) await cache.put(url, response).catch((cause) => console.info(`${url} not kept`, cause));
  }
}

/** Deletes cached files that are not among `hashes`. */
export async function deleteOtherBuilds(hashes: Record<string, string>) {
  const neededUrls = new Set(Object.keys(hashes).map((url) => new URL(url, location.href).href));
  const cache = await caches.open(BUILDS_CACHE);
  for (const request of await cache.keys()) if (!neededUrls.has(request.url)) await cache.delete(request);
}

export const MEDIA_CACHE = 'media';

const MAX_MEDIA = 200;

/** Deletes the least recently requested pictures. */
export const deleteOldMedia = () => trim(MEDIA_CACHE, MAX_MEDIA);
