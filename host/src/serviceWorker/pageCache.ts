export const PAGES = 'pages';

/** One page stands for every address: it differs by its preloads and first content only, and says itself whose that is. */
export const anyPage = new URL('/', location.origin).href;

const elsewhere = /^\/(api|sanctum|broadcasting|app|builds|channels)(\/|$)/;
const isFile = /\.[a-z0-9]{2,11}$/i;

/** Whether the app opens at an address; the backend, the channels and files may be looked at in a tab as well. */
export const isPageAddress = ({ pathname }: URL) => !elsewhere.test(pathname) && !isFile.test(pathname);

export const isWholePage = ({ status, headers }: Response) =>
  status === 200 && (headers.get('content-type') ?? '').startsWith('text/html');

/** The visit that brought the worker loaded its page without it; from then on each navigation keeps its own. */
export async function keepFirstPage(url: string) {
  const cache = await caches.open(PAGES);
  if (!isPageAddress(new URL(url)) || (await cache.match(anyPage))) return;
  const answer = await fetch(url, { headers: { accept: 'text/html' } }).catch(() => null);
  if (answer && isWholePage(answer) && !answer.redirected) await cache.put(anyPage, answer);
}
