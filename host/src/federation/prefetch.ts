import type { Preload } from '@liaozhai/shared/contract';

export interface Prefetcher {
  /**
   * Fetches a route's or slot's files into the HTTP cache in parallel, so that entry, module and page do not wait for each other.
   * Resolves when all have loaded or failed. Runs nothing: the asset loader checks every file and reports failures. Files at
   * `low` priority yield to files that a screen waits for.
   */
  prefetch(files: Preload, priority?: RequestPriority): Promise<void>;
  /**
   * Prioritises files that a screen waits for: aborts other fetches at `low` priority, and restarts them once all awaited files
   * are done. Returns the function that reports these files as done.
   */
  giveWayTo(files: Preload): () => void;
  /** Aborts fetches of a failed build's files: pending ones hold connections that its fallback needs. */
  cancel(entry: string): void;
}

const preloads = () => [...document.querySelectorAll<HTMLLinkElement>('link[rel="preload"], link[rel="stylesheet"]')];
const pathOf = (link: HTMLLinkElement) => new URL(link.href).pathname;
const inlinedStyles = () =>
  [...document.querySelectorAll<HTMLStyleElement>('style[data-href]')].map(({ dataset }) => dataset.href ?? '');
const filesOf = ({ js, css }: Preload) => [...js, ...css];

interface Fetching {
  stop: AbortController;
  priority: RequestPriority;
  /** aborted in favour of awaited files, to be restarted */
  standsBack: boolean;
  /** resolves when the file has loaded, failed or been aborted */
  ended: Promise<void>;
}

/** `hashes`: path → integrity hash of the set's files. */
export function createPrefetcher(hashes: Record<string, string>, timeoutMs: () => number): Prefetcher {
  // files that the page's HTML preloads or inlines are not fetched again
  const requested = new Set([...preloads().map(pathOf), ...inlinedStyles()]);
  const underWay = new Map<string, Fetching>();
  const awaited = new Set<readonly string[]>();
  const standingBack = new Set<() => void>();

  const free = () => (awaited.size > 0 ? new Promise<void>((resolve) => standingBack.add(resolve)) : Promise.resolve());

  function start(url: string, integrity: string, priority: RequestPriority): Fetching {
    requested.add(url);
    const stop = new AbortController();
    // over HTTP/1 a hanging file holds one of six connections that the page may need next
    const timer = setTimeout(() => stop.abort(), 2 * timeoutMs());
    const ended = fetch(url, { integrity, priority, signal: stop.signal }).then(
      () => undefined,
      () => void requested.delete(url),
    );
    const fetching = { stop, priority, standsBack: false, ended };
    underWay.set(url, fetching);
    void ended.then(() => {
      clearTimeout(timer);
      underWay.delete(url);
    });
    return fetching;
  }

  async function fetchOnce(url: string, priority: RequestPriority): Promise<void> {
    if (priority === 'low') await free();
    const integrity = hashes[url];
    if (!integrity) return;
    const fetching = underWay.get(url) ?? (requested.has(url) ? undefined : start(url, integrity, priority));
    await fetching?.ended;
    if (fetching?.standsBack) await fetchOnce(url, priority);
  }

  return {
    async prefetch(files, priority = 'auto') {
      await Promise.all(filesOf(files).map((url) => fetchOnce(url, priority)));
    },
    giveWayTo(files) {
      const needed = filesOf(files);
      awaited.add(needed);
      const isNeeded = (url: string) => [...awaited].some((urls) => urls.includes(url));
      for (const [url, fetching] of underWay) {
        if (fetching.priority !== 'low' || isNeeded(url)) continue;
        fetching.standsBack = true;
        fetching.stop.abort();
      }
      return () => {
        awaited.delete(needed);
        if (awaited.size > 0) return;
        for (const resume of standingBack) resume();
        standingBack.clear();
      };
    },
    cancel(entry) {
      const folder = entry.slice(0, entry.lastIndexOf('/') + 1);
      for (const [url, { stop }] of underWay) if (url.startsWith(folder)) stop.abort();
      for (const link of preloads()) {
        if (link.rel !== 'preload' || !pathOf(link).startsWith(folder)) continue;
        requested.delete(pathOf(link));
        link.remove();
      }
    },
  };
}
