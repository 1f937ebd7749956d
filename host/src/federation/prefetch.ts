import type { Preload } from '@liaozhai/shared/contract';

export interface Prefetcher {
  /**
   * Fetches a route's or slot's files into the HTTP cache, all in parallel, so that entry, module and page do not wait for each other.
   * Resolves when they are there or have failed. Nothing runs here: the asset loader still checks every file and reports failures. `low`
   * is for files that nobody waits for yet; they yield to files that somebody waits for.
   */
  prefetch(files: Preload, priority?: RequestPriority): Promise<void>;
  /**
   * Gives the way to these files, which somebody waits for: what is fetched at `low` besides them is broken off, and
   * asked for again once everything awaited has come. Returns the way to say that it has.
   */
  giveWayTo(files: Preload): () => void;
  /** Stops asking for a failed build's files: hanging ones would hold connections that its fallback needs. */
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
  /** broken off for something awaited, to be asked for again */
  standsBack: boolean;
  /** when it is there, has failed or was stopped */
  ended: Promise<void>;
}

/** `hashes` is the set's list of files by their path. */
export function createPrefetcher(hashes: Record<string, string>, timeoutMs: () => number): Prefetcher {
  // what the page's own HTML preloads is on its way already, and what it carries need not come at all
  const requested = new Set([...preloads().map(pathOf), ...inlinedStyles()]);
  const underWay = new Map<string, Fetching>();
  const awaited = new Set<readonly string[]>();
  const standingBack = new Set<() => void>();

  const free = () => (awaited.size > 0 ? new Promise<void>((resolve) => standingBack.add(resolve)) : Promise.resolve());

  function start(url: string, integrity: string, priority: RequestPriority): Fetching {
    requested.add(url);
    const stop = new AbortController();
    // over HTTP/1 a file that hangs holds one of six connections; what the page needs next must not wait for ever
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
