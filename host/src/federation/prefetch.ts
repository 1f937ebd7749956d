import type { Preload } from '@liaozhai/shared/contract';

const preloads = () => [...document.querySelectorAll<HTMLLinkElement>('link[rel="preload"], link[rel="stylesheet"]')];
const pathOf = (link: HTMLLinkElement) => new URL(link.href).pathname;
const inlinedStyles = () =>
  [...document.querySelectorAll<HTMLStyleElement>('style[data-href]')].map(({ dataset }) => dataset.href ?? '');
const filesOf = ({ js, css }: Preload) => [...js, ...css];

interface PendingFetch {
  stop: AbortController;
  priority: RequestPriority;
  /** aborted in favour of awaited files, to be restarted */
  isYielding: boolean;
  /** resolves when the file has loaded, failed or been aborted */
  completion: Promise<unknown>;
}

export type Prefetcher = ReturnType<typeof createPrefetcher>;

/** `hashes`: path → integrity hash of the set's files. */
export function createPrefetcher(hashes: Record<string, string>, timeoutMs: () => number) {
  // files that the page's HTML preloads or inlines are not fetched again
  const requestedUrls = new Set([...preloads().map(pathOf), ...inlinedStyles()]);
  const fetches = new Map<string, PendingFetch>();
  const awaitedFiles = new Set<readonly string[]>();
  const resumeCallbacks = new Set<() => void>();

  const waitForTurn = () =>
    awaitedFiles.size > 0 ? new Promise<void>((resolve) => resumeCallbacks.add(resolve)) : Promise.resolve();

  function start(url: string, integrity: string, priority: RequestPriority): PendingFetch {
    requestedUrls.add(url);
    const stop = new AbortController();
    // over HTTP/1 a hanging file holds one of six connections that the page may need next
    const timer = setTimeout(() => stop.abort(), 2 * timeoutMs());
    const completion = fetch(url, { integrity, priority, signal: stop.signal })
      .catch(() => requestedUrls.delete(url))
      .finally(() => {
        clearTimeout(timer);
        fetches.delete(url);
      });
    const pendingFetch = { stop, priority, isYielding: false, completion };
    fetches.set(url, pendingFetch);
    return pendingFetch;
  }

  async function fetchOnce(url: string, priority: RequestPriority): Promise<void> {
    if (priority === 'low') await waitForTurn();
    const integrity = hashes[url];
    if (!integrity) return;
    const pendingFetch = fetches.get(url) ?? (requestedUrls.has(url) ? undefined : start(url, integrity, priority));
    await pendingFetch?.completion;
    if (pendingFetch?.isYielding) await fetchOnce(url, priority);
  }

  return {
    /**
     * Fetches a route's or slot's files into the HTTP cache in parallel, so that entry, module and page do not wait for each other.
     * Resolves when all have loaded or failed. Runs nothing: the asset loader checks every file and reports failures. Files at
     * `low` priority yield to files that a screen waits for.
     */
    async prefetch(files: Preload, priority: RequestPriority = 'auto'): Promise<void> {
      await Promise.all(filesOf(files).map((url) => fetchOnce(url, priority)));
    },
    /**
     * Prioritises files that a screen waits for: aborts other fetches at `low` priority, and restarts them once all awaited files
     * are done. Returns the function that reports these files as done.
     */
    prioritise(files: Preload): () => void {
      const neededFiles = filesOf(files);
      awaitedFiles.add(neededFiles);
      const isNeeded = (url: string) => [...awaitedFiles].some((urls) => urls.includes(url));
      for (const [url, pendingFetch] of fetches) {
        if (pendingFetch.priority !== 'low' || isNeeded(url)) continue;
        pendingFetch.isYielding = true;
        pendingFetch.stop.abort();
      }
      return () => {
        awaitedFiles.delete(neededFiles);
        if (awaitedFiles.size > 0) return;
        for (const resume of resumeCallbacks) resume();
        resumeCallbacks.clear();
      };
    },
    /** Aborts fetches of a failed build's files: pending ones hold connections that its fallback needs. */
    cancel(entry: string): void {
      const folder = entry.slice(0, entry.lastIndexOf('/') + 1);
      for (const [url, { stop }] of fetches) if (url.startsWith(folder)) stop.abort();
      for (const link of preloads()) {
        if (link.rel !== 'preload' || !pathOf(link).startsWith(folder)) continue;
        requestedUrls.delete(pathOf(link));
        link.remove();
      }
    },
  };
}
