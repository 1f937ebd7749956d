import type { Preload } from '@liaozhai/shared/contract';

export interface Prefetcher {
  /**
   * Fetches a route's or slot's files into the HTTP cache, all at once, so that entry, module and page do not wait
   * for each other. Resolves when they are there or have failed. Nothing runs here: the asset loader still checks
   * every file, and what fails or is not listed is left to it to report. `low` is for what nobody waits for yet.
   */
  prefetch(files: Preload, priority?: RequestPriority): Promise<void>;
  /** Stops asking for a failed build's files: hanging ones would hold connections that its fallback needs. */
  cancel(entry: string): void;
}

const preloads = () => [...document.querySelectorAll<HTMLLinkElement>('link[rel="preload"], link[rel="stylesheet"]')];
const pathOf = (link: HTMLLinkElement) => new URL(link.href).pathname;

/** `hashes` is the set's list of files by their path. */
export function createPrefetcher(hashes: Record<string, string>, timeoutMs: () => number): Prefetcher {
  // what the page's own HTML preloads is on its way already
  const asked = new Set(preloads().map(pathOf));
  const underWay = new Map<string, AbortController>();

  async function fetchOnce(url: string, priority: RequestPriority) {
    const integrity = hashes[url];
    if (!integrity || asked.has(url)) return;
    asked.add(url);
    const stop = new AbortController();
    underWay.set(url, stop);
    // over HTTP/1 a file that hangs holds one of six connections; what the page needs next must not wait for ever
    const timer = setTimeout(() => stop.abort(), 2 * timeoutMs());
    await fetch(url, { integrity, priority, signal: stop.signal }).catch(() => asked.delete(url));
    clearTimeout(timer);
    underWay.delete(url);
  }

  return {
    async prefetch({ js, css }, priority = 'auto') {
      await Promise.all([...js, ...css].map((url) => fetchOnce(url, priority)));
    },
    cancel(entry) {
      const folder = entry.slice(0, entry.lastIndexOf('/') + 1);
      for (const [url, stop] of underWay) if (url.startsWith(folder)) stop.abort();
      for (const link of preloads()) {
        if (link.rel !== 'preload' || !pathOf(link).startsWith(folder)) continue;
        asked.delete(pathOf(link));
        link.remove();
      }
    },
  };
}
