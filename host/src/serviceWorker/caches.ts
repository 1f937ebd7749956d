import { PAGE_ELEMENTS, reservedSegments } from '@liaozhai/shared/contract';

export const PAGES = 'pages';
const WAITING = 'waiting-page';
const SCREENS = 'screens';

/** Key of the one page that serves every address: pages differ only in preloads and prerendered content, which names its address. */
export const anyPage = new URL('/', location.origin).href;

const elsewhere = new RegExp(`^/(${reservedSegments.join('|')})(/|$)`);
const setElement = new RegExp(`id="${PAGE_ELEMENTS.set}">([^<]*)<`);
const isFile = /\.[a-z0-9]{2,11}$/i;

/** Whether the app opens at an address, rather than the backend, a channel or a file. */
export const isPageAddress = ({ pathname }: URL) => !elsewhere.test(pathname) && !isFile.test(pathname);

/** Whether a response is a page that may be cached. Pages that run or offer a dev server's code are `no-store`. */
export const isWholePage = ({ status, headers }: Response) =>
  status === 200 &&
  (headers.get('content-type') ?? '').startsWith('text/html') &&
  !headers.get('cache-control')?.includes('no-store');

interface KeptSet {
  host: { entry: string };
  hashes: Record<string, string>;
}

const noSet: KeptSet = { host: { entry: '' }, hashes: {} };

const textOf = async (page: Response | undefined) => (await page?.clone().text()) ?? '';

function setIn(html: string): KeptSet {
  const [, json] = setElement.exec(html) ?? [];
  return json ? (JSON.parse(json) as KeptSet) : noSet;
}

/** A truncated gzip response can decode to a prefix that looks like a valid page. */
export const hasItsEnd = (html: string) => html.trimEnd().endsWith('</html>');

/**
 * Whether a page may replace the cached one. If its host's script is not cached, it would not work offline, so it is stored for
 * `keepWaitingPage`. A truncated page is never stored.
 */
export async function mayBeKept(page: Response): Promise<boolean> {
  const html = await textOf(page);
  if (!hasItsEnd(html)) return false;
  const { host } = setIn(html);
  const isReady = await isBuildKept(host.entry);
  const waiting = await caches.open(WAITING);
  if (isReady) await waiting.delete(anyPage);
  else await waiting.put(anyPage, page.clone());
  return isReady;
}

/**
 * Replaces a truncated page in the HTTP cache, which each 304 would bring back. Returns true if the page was truncated and is
 * whole now.
 */
export async function mendCutPage(page: Response, url: string): Promise<boolean> {
  if (hasItsEnd(await textOf(page))) return false;
  const answer = await fetch(url, { cache: 'reload', headers: { accept: 'text/html' } }).catch(() => null);
  return answer !== null && isWholePage(answer) && hasItsEnd(await answer.text());
}

export const isPageKept = async (): Promise<boolean> => (await (await caches.open(PAGES)).match(anyPage)) !== undefined;

const SCREENS_KEPT = 20;

/** Caches a page for any address and for its own. Deletes pages of another set, since builds that only they need are deleted next. */
export async function keepPage(page: Response) {
  const pages = await caches.open(PAGES);
  const [former, newest] = await Promise.all([textOf(await pages.match(anyPage)), textOf(page)]);
  if (setElement.exec(former)?.[1] !== setElement.exec(newest)?.[1]) await forgetScreens();
  await pages.put(anyPage, page.clone());
  if (new URL(page.url).search) return;
  const screens = await caches.open(SCREENS);
  await screens.put(page.url, page.clone());
  const requests = await screens.keys();
  for (const request of requests.slice(0, -SCREENS_KEPT)) await screens.delete(request);
}

/** The page last shown at an address, of the cached set. */
export const keptScreen = async (url: string) => (await caches.open(SCREENS)).match(url);

export const forgetScreens = () => caches.delete(SCREENS);

export const forgetScreen = async (url: string) => (await caches.open(SCREENS)).delete(url);

/** Caches the files of the waiting page, then the page. */
export async function keepWaitingPage() {
  const page = await (await caches.open(WAITING)).match(anyPage);
  if (!page) return;
  await keepSet(setIn(await textOf(page)).hashes);
  if (await mayBeKept(page)) await keepPage(page);
}

/** Files of the cached page's set (address → integrity). */
export const keptHashes = async () => setIn(await textOf(await (await caches.open(PAGES)).match(anyPage))).hashes;

/** Caches the page of the visit that installed the worker, since it was loaded without it. */
export async function keepFirstPage(url: string) {
  if (!isPageAddress(new URL(url)) || (await (await caches.open(PAGES)).match(anyPage))) return;
  const answer = await fetch(url, { headers: { accept: 'text/html' } }).catch(() => null);
  if (!answer || !isWholePage(answer) || answer.redirected) return;
  if (await mayBeKept(answer)) await keepPage(answer);
  else await keepWaitingPage();
}

export const BUILDS = 'builds';

/** Fetches a file with its integrity hash. The retry bypasses the HTTP cache, which may hold corrupt bytes. */
const verified = (url: string, integrity: string) =>
  fetch(url, { integrity })
    .catch(() => fetch(url, { integrity, cache: 'reload' }))
    .catch(() => null);

const isOverloaded = ({ status }: Response) => status === 429 || status === 503;

/** Caches every file of the set (address → integrity), one after another so that the page's own requests go first. */
export async function keepSet(hashes: Record<string, string>) {
  const cache = await caches.open(BUILDS);
  const isWechat = navigator.userAgent.includes('MicroMessenger');
  for (const [url, integrity] of Object.entries(hashes)) {
    if (/\/wechat\.\w+\.js$/.test(url) && !isWechat) continue;
    if (await cache.match(url)) continue;
    const answer = await verified(url, integrity);
    // the page's next message retries
    if (answer && isOverloaded(answer)) return;
    // a full device stores what it can, and still deletes what is no longer needed
    if (answer?.ok) await cache.put(url, answer).catch((cause) => console.info(`${url} not kept`, cause));
  }
}

const isBuildKept = async (url: string) => (await (await caches.open(BUILDS)).match(url)) !== undefined;

/** Deletes cached files that are not among `hashes`. */
export async function forgetOthers(hashes: Record<string, string>) {
  const wanted = new Set(Object.keys(hashes).map((url) => new URL(url, location.href).href));
  const cache = await caches.open(BUILDS);
  for (const request of await cache.keys()) if (!wanted.has(request.url)) await cache.delete(request);
}

export const MEDIA = 'media';

const KEPT = 200;

/** Deletes the least recently requested pictures: a cache lists its entries in the order they were written. */
export async function forgetOldMedia() {
  const cache = await caches.open(MEDIA);
  const requests = await cache.keys();
  for (const request of requests.slice(0, -KEPT)) await cache.delete(request);
}
