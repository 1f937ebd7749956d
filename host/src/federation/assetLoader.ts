import { createSignal } from '@liaozhai/shared/runtime';
import { createCheckedElement } from './lateFiles';

/** Why a file did not come: no answer or a server in trouble; not there; other bytes; too slow; not in the set; it ran, but had no such chunk. */
export type AssetFailure = 'unreachable' | 'gone' | 'corrupt' | 'timeout' | 'unlisted' | 'missing';

export class AssetError extends Error {
  constructor(
    readonly kind: AssetFailure,
    readonly url: string,
    options?: ErrorOptions,
  ) {
    super(`${kind}: ${url}`, options);
    this.name = 'AssetError';
  }
}

/**
 * The asset loader's kind of a failure, or undefined for any other. A build's chunk runtime wraps the error in its own. That one
 * names the `request` and keeps the type of the event that `guardLateFiles` dispatched: the kind.
 */
export function assetFailureOf(cause: unknown): AssetFailure | undefined {
  if (cause instanceof AssetError) return cause.kind;
  // the browser's own words for an ES module whose file did not come
  if (cause instanceof TypeError && /dynamically imported module|module script/.test(cause.message))
    return 'unreachable';
  return cause instanceof Error && 'request' in cause && 'type' in cause ? (cause.type as AssetFailure) : undefined;
}

export interface AssetLoader {
  /** Runs a script of the set. Rejects with AssetError. */
  script(url: string): Promise<void>;
  /** Applies a stylesheet of the set. Rejects with AssetError. */
  style(url: string): Promise<void>;
  /** Reports that a file arrived which had been given up; the next request for it succeeds immediately. Returns the unsubscribe function. */
  onLate(listener: () => void): () => void;
}

/**
 * The one way by which code and styles of any build enter the page: hash, Trusted Types, time limit, one retry.
 * Equal URLs in flight or loaded share one promise; a failed one may be asked again. `timeoutMs` says how long a file
 * may take, `isAwaited` whether a screen waits for it: browsers hold scripts of low priority back behind pictures, even in the cache.
 */
export function createAssetLoader(
  timeoutMs: (url: string) => number,
  isAwaited: (url: string) => boolean = () => true,
): AssetLoader {
  const late = createSignal();
  const load = (append: typeof appendScript) => {
    const once = createOnce();
    const arrived = (url: string) => {
      once.done(url);
      late.emit();
    };
    return once.of(
      withRetry((url) =>
        append(url, { timeoutMs: timeoutMs(url), isAwaited: isAwaited(url), onLate: () => arrived(url) }),
      ),
    );
  };
  return {
    script: load(appendScript),
    style: load(appendStyle),
    onLate: late.on,
  };
}

declare global {
  var __loadAsset: ((kind: 'script' | 'style', url: string) => Promise<void>) | undefined;
}

/** Lets all builds load through this loader: what a bundler makes by `guardLateFiles`, what is written by hand by `__loadAsset`. */
export function installAssetLoader(loader: AssetLoader) {
  globalThis.__loadAsset = (kind, url) => loader[kind](url);
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function integrityOf(url: string): string {
  try {
    const { __liaozhai: loader } = globalThis;
    if (!loader) throw new Error('the page has no loader');
    return loader.hashOf(url);
  } catch (cause) {
    throw new AssetError('unlisted', url, { cause });
  }
}

/** The element says no more than `error`; where the browser keeps the answer's status, it says the rest. */
function failureAt(url: string): AssetFailure {
  const { href } = new URL(url, location.href);
  const [timing] = performance.getEntriesByName(href).slice(-1) as PerformanceResourceTiming[];
  if (timing?.responseStatus === 200) return 'corrupt';
  return timing?.responseStatus === 404 ? 'gone' : 'unreachable';
}

interface Patience {
  timeoutMs: number;
  isAwaited: boolean;
  /** the file has come after all */
  onLate: () => void;
}

/** Appends the element and waits for it. A hang is given up; the container name per build keeps a late arrival harmless. */
function settle(
  element: HTMLScriptElement | HTMLLinkElement,
  url: string,
  { timeoutMs, onLate }: Patience,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      element.onload = onLate;
      reject(new AssetError('timeout', url));
    }, timeoutMs);
    element.onload = () => {
      clearTimeout(timer);
      resolve();
    };
    element.onerror = () => {
      clearTimeout(timer);
      element.remove();
      reject(new AssetError(failureAt(url), url));
    };
    document.head.append(element);
  });
}

function appendScript(url: string, patience: Patience): Promise<void> {
  const script = createCheckedElement('script');
  script.integrity = integrityOf(url);
  script.crossOrigin = 'anonymous';
  if (patience.isAwaited) script.fetchPriority = 'high';
  // the policy refuses unlisted URLs; where Trusted Types are unknown `integrityOf` has refused already
  const policy = globalThis.__liaozhai?.policy;
  script.src = policy ? (policy.createScriptURL(url) as string) : url;
  return settle(script, url, patience);
}

function appendStyle(url: string, patience: Patience): Promise<void> {
  const { href } = new URL(url, location.href);
  const isInlined = document.querySelector(`style[data-href="${new URL(href).pathname}"]`) !== null;
  const applied = isInlined || [...document.styleSheets].some((sheet) => sheet.href === href);
  if (applied) return Promise.resolve();
  const link = createCheckedElement('link');
  link.rel = 'stylesheet';
  link.integrity = integrityOf(url);
  link.crossOrigin = 'anonymous';
  link.href = url;
  return settle(link, url, patience);
}

/** One retry after 50–150 ms past the HTTP cache, since corrupt bytes are cached as immutable. */
const withRetry = (append: (url: string) => Promise<void>) => async (url: string) => {
  try {
    await append(url);
  } catch (cause) {
    const kind = assetFailureOf(cause);
    if (kind !== 'unreachable' && kind !== 'corrupt') throw cause;
    await pause(50 + Math.random() * 100);
    await append(`${url}${url.includes('?') ? '&' : '?'}again=1`);
  }
};

/** What is loaded or on its way, by whole URL. */
function createOnce() {
  const pending = new Map<string, Promise<void>>();
  const hrefOf = (url: string) => new URL(url, location.href).href;
  return {
    of: (load: (url: string) => Promise<void>) => (url: string) => {
      const href = hrefOf(url);
      const running = pending.get(href);
      if (running) return running;
      const started = load(href).catch((cause) => {
        if (pending.get(href) === started) pending.delete(href);
        throw cause;
      });
      pending.set(href, started);
      return started;
    },
    done: (url: string) => void pending.set(hrefOf(url), Promise.resolve()),
  };
}

const LEAST_MS = 2500;
/** Where nothing else can take the file's place, which is so on most first visits. */
const LEAST_ALONE_MS = 10_000;
/** A phone may sleep while the host's script is on its way. */
const MOST_MS = 30_000;

/** By the browser's own estimate: there a small file may take seconds while others share the way with it. */
const slowNetworkMs: Record<string, number> = { '3g': 6000, '2g': 15_000, 'slow-2g': MOST_MS };

/** Not every browser tells. */
type Connection = { effectiveType?: string };

/**
 * How long a file may take, ms, before it counts as hanging: 2.5 s where another build can take over, else 10 s, and up
 * to 30 s where the network itself is slow. The measure is the host's own script, larger than any file of a remote; from
 * a cache it took no time.
 */
export function loadTimeoutMs(hostEntry: string, hasOther: boolean): number {
  const { connection } = navigator as Navigator & { connection?: Connection };
  const { href } = new URL(hostEntry, location.href);
  const hostMs = performance.getEntriesByName(href)[0]?.duration ?? 0;
  const neededMs = Math.max(slowNetworkMs[connection?.effectiveType ?? ''] ?? 0, hostMs);
  return Math.min(Math.max(hasOther ? LEAST_MS : LEAST_ALONE_MS, neededMs), MOST_MS);
}
