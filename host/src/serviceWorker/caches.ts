import { PAGE_ELEMENTS, reservedSegments } from '@liaozhai/shared/contract';

export const PAGES = 'pages';
const WAITING = 'waiting-page';
const SCREENS = 'screens';

/** One page stands for every address: it differs by its preloads and prerendered content only, and says itself whose that is. */
export const anyPage = new URL('/', location.origin).href;

const elsewhere = new RegExp(`^/(${reservedSegments.join('|')})(/|$)`);
const setElement = new RegExp(`id="${PAGE_ELEMENTS.set}">([^<]*)<`);
const isFile = /\.[a-z0-9]{2,11}$/i;

/** Whether the app opens at an address; the backend, the channels and files may be looked at in a tab as well. */
export const isPageAddress = ({ pathname }: URL) => !elsewhere.test(pathname) && !isFile.test(pathname);

/** One that runs a dev server's code, or asks whether to, is not to be kept (`no-store`). */
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

/** What came of a compressed answer that was cut off reads like a page. */
export const hasItsEnd = (html: string) => html.trimEnd().endsWith('</html>');

/**
 * Whether a page may take the kept one's place: without its host's script it would be dead when opened alone. Then it
 * waits for `keepWaitingPage`. One whose end is missing never does.
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
 * A page that was cut off stands in the HTTP cache under the whole one's name, and each 304 would bring it back. Asks for it past
 * that cache, which then has the new answer. Returns true if the page was cut off and is whole now.
 */
export async function mendCutPage(page: Response, url: string): Promise<boolean> {
  if (hasItsEnd(await textOf(page))) return false;
  const answer = await fetch(url, { cache: 'reload', headers: { accept: 'text/html' } }).catch(() => null);
  return answer !== null && isWholePage(answer) && hasItsEnd(await answer.text());
}

/** Whether there is a page for any address. */
export const isPageKept = async (): Promise<boolean> => (await (await caches.open(PAGES)).match(anyPage)) !== undefined;

const SCREENS_KEPT = 20;

/**
 * Keeps a page for any address, and beside for its own. Pages of another set go with it, since builds that only they need are let go
 * of next.
 */
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

/** The page that an address showed last, of the set that is kept. */
export const keptScreen = async (url: string) => (await caches.open(SCREENS)).match(url);

export const forgetScreens = () => caches.delete(SCREENS);

export const forgetScreen = async (url: string) => (await caches.open(SCREENS)).delete(url);

/** Fetches what the newest page needs, and keeps the page then. */
export async function keepWaitingPage() {
  const page = await (await caches.open(WAITING)).match(anyPage);
  if (!page) return;
  await keepSet(setIn(await textOf(page)).hashes);
  if (await mayBeKept(page)) await keepPage(page);
}

/** The files of the kept page's set (address → integrity). */
export const keptHashes = async () => setIn(await textOf(await (await caches.open(PAGES)).match(anyPage))).hashes;

/** The visit that brought the worker loaded its page without it; from then on each navigation keeps its own. */
export async function keepFirstPage(url: string) {
  if (!isPageAddress(new URL(url)) || (await (await caches.open(PAGES)).match(anyPage))) return;
  const answer = await fetch(url, { headers: { accept: 'text/html' } }).catch(() => null);
  if (!answer || !isWholePage(answer) || answer.redirected) return;
  if (await mayBeKept(answer)) await keepPage(answer);
  else await keepWaitingPage();
}

export const BUILDS = 'builds';

/** The file's bytes as the set lists them; corrupt ones may lie in the HTTP cache, so the second question goes past it. */
const verified = (url: string, integrity: string) =>
  fetch(url, { integrity })
    .catch(() => fetch(url, { integrity, cache: 'reload' }))
    .catch(() => null);

const isOverloaded = ({ status }: Response) => status === 429 || status === 503;

/** Keeps every file of the set (address → integrity), one after another so that the page's own requests go first. */
export async function keepSet(hashes: Record<string, string>) {
  const cache = await caches.open(BUILDS);
  const isWechat = navigator.userAgent.includes('MicroMessenger');
  for (const [url, integrity] of Object.entries(hashes)) {
    if (/\/wechat\.\w+\.js$/.test(url) && !isWechat) continue;
    if (await cache.match(url)) continue;
    const answer = await verified(url, integrity);
    // the page's next message tries again
    if (answer && isOverloaded(answer)) return;
    // a full device keeps what it can, and still lets go of what is no longer needed
    if (answer?.ok) await cache.put(url, answer).catch((cause) => console.info(`${url} not kept`, cause));
  }
}

const isBuildKept = async (url: string) => (await (await caches.open(BUILDS)).match(url)) !== undefined;

/** Lets go of builds that none of the named sets has. */
export async function forgetOthers(hashes: Record<string, string>) {
  const wanted = new Set(Object.keys(hashes).map((url) => new URL(url, location.href).href));
  const cache = await caches.open(BUILDS);
  for (const request of await cache.keys()) if (!wanted.has(request.url)) await cache.delete(request);
}

export const MEDIA = 'media';

const KEPT = 200;

/** Lets go of the pictures that were asked for longest ago: a cache lists its entries in the order they were written. */
export async function forgetOldMedia() {
  const cache = await caches.open(MEDIA);
  const requests = await cache.keys();
  for (const request of requests.slice(0, -KEPT)) await cache.delete(request);
}
