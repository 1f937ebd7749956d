import { pageSet } from './page';
import type { Preload } from './pageSet';

/** Over HTTP/1 a file that hangs holds one of six connections; what the page needs next must not wait for ever. */
const budgetMs = 5000;

// what the page's own HTML preloads is on its way already
const preloaded = [...document.querySelectorAll<HTMLLinkElement>('link[rel="preload"], link[rel="stylesheet"]')];
const asked = new Set(preloaded.map((link) => new URL(link.href).pathname));

/**
 * Fetches a route's or slot's files into the HTTP cache, all at once, so that entry, module and page do not wait
 * for each other. Nothing runs here: the door still checks every file. What fails or is not listed is left to the door to report.
 */
export function warm({ js, css }: Preload) {
  for (const url of [...js, ...css]) {
    const integrity = pageSet.hashes[url];
    if (!integrity || asked.has(url)) continue;
    asked.add(url);
    fetch(url, { integrity, priority: 'low', signal: AbortSignal.timeout(budgetMs) }).catch(() => asked.delete(url));
  }
}
