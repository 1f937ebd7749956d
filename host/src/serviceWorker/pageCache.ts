import { isBuildKept, keepSet } from './buildCache';

export const PAGES = 'pages';
const WAITING = 'waiting-page';

/** One page stands for every address: it differs by its preloads and first content only, and says itself whose that is. */
export const anyPage = new URL('/', location.origin).href;

const elsewhere = /^\/(api|sanctum|broadcasting|app|builds|channels)(\/|$)/;
const isFile = /\.[a-z0-9]{2,11}$/i;

/** Whether the app opens at an address; the backend, the channels and files may be looked at in a tab as well. */
export const isPageAddress = ({ pathname }: URL) => !elsewhere.test(pathname) && !isFile.test(pathname);

export const isWholePage = ({ status, headers }: Response) =>
  status === 200 && (headers.get('content-type') ?? '').startsWith('text/html');

interface KeptSet {
  host: { entry: string };
  hashes: Record<string, string>;
}

const noSet: KeptSet = { host: { entry: '' }, hashes: {} };

async function setOf(page: Response | undefined): Promise<KeptSet> {
  const [, json] = /id="liaozhai-set">([^<]*)</.exec((await page?.clone().text()) ?? '') ?? [];
  return json ? (JSON.parse(json) as KeptSet) : noSet;
}

/** Whether a page may take the kept one's place: without its host's script it would be dead when opened alone. Else it waits for `keepWaitingPage`. */
export async function mayBeKept(page: Response): Promise<boolean> {
  const { host } = await setOf(page);
  const isReady = await isBuildKept(host.entry);
  const waiting = await caches.open(WAITING);
  if (isReady) await waiting.delete(anyPage);
  else await waiting.put(anyPage, page.clone());
  return isReady;
}

/** Fetches what the newest page needs, and keeps the page then. */
export async function keepWaitingPage() {
  const page = await (await caches.open(WAITING)).match(anyPage);
  if (!page) return;
  await keepSet((await setOf(page)).hashes);
  if (await mayBeKept(page)) await (await caches.open(PAGES)).put(anyPage, page);
}

/** The files of the kept page's set (address → integrity). */
export const keptHashes = async () => (await setOf(await (await caches.open(PAGES)).match(anyPage))).hashes;

/** The visit that brought the worker loaded its page without it; from then on each navigation keeps its own. */
export async function keepFirstPage(url: string) {
  const cache = await caches.open(PAGES);
  if (!isPageAddress(new URL(url)) || (await cache.match(anyPage))) return;
  const answer = await fetch(url, { headers: { accept: 'text/html' } }).catch(() => null);
  if (!answer || !isWholePage(answer) || answer.redirected) return;
  if (await mayBeKept(answer)) await cache.put(anyPage, answer);
  else await keepWaitingPage();
}
