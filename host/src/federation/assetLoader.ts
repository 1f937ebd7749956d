import { createSignal } from '@liaozhai/shared/runtime';
import { createCheckedElement } from './lateFiles';

/** Why a file was not loaded: network or server error; 404; wrong hash; timeout; not in the set; loaded, but without the chunk. */
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
 * Returns the failure kind of an asset error, else undefined. A build's chunk runtime wraps it in its own error. That has a
 * `request`, and as its `type` that of the event dispatched by `guardLateFiles`: the kind.
 */
export function assetFailureOf(cause: unknown): AssetFailure | undefined {
  if (cause instanceof AssetError) return cause.kind;
  // browsers' messages for an ES module that could not be loaded
  if (cause instanceof TypeError && /dynamically imported module|module script/.test(cause.message))
    return 'unreachable';
  return cause instanceof Error && 'request' in cause && 'type' in cause ? (cause.type as AssetFailure) : undefined;
}

/**
 * Loads all code and styles of builds: integrity hash, Trusted Types, timeout, one retry. Requests for one URL share a promise
 * until it fails. `timeoutMs` returns a file's timeout. `isAwaited` returns whether a screen waits for it and raises its
 * priority: browsers delay low-priority scripts behind images, even cached ones.
 */
export function createAssetLoader(
  timeoutMs: (url: string) => number,
  isAwaited: (url: string) => boolean = () => true,
) {
  const lateArrivals = createSignal();
  const load = (append: typeof appendScript) => {
    /** Loaded and pending files by absolute URL. */
    const loads = new Map<string, Promise<void>>();
    return (url: string): Promise<void> => {
      const { href } = new URL(url, location.href);
      const currentLoad = loads.get(href);
      if (currentLoad) return currentLoad;
      const onLate = () => {
        loads.set(href, Promise.resolve());
        lateArrivals.emit();
      };
      const options = { timeoutMs: timeoutMs(href), isAwaited: isAwaited(href), onLate };
      const newLoad = withRetry(href, (address) => append(address, options)).catch((cause) => {
        if (loads.get(href) === newLoad) loads.delete(href);
        throw cause;
      });
      loads.set(href, newLoad);
      return newLoad;
    };
  };
  return {
    /** Runs a script of the set. Rejects with AssetError. */
    script: load(appendScript),
    /** Applies a stylesheet of the set. Rejects with AssetError. */
    style: load(appendStyle),
    /** Calls back when a file arrives after its timeout; the next request for it succeeds immediately. Returns the unsubscribe function. */
    onLate: lateArrivals.on,
  };
}

export type AssetLoader = ReturnType<typeof createAssetLoader>;

declare global {
  var __loadAsset: ((kind: 'script' | 'style', url: string) => Promise<void>) | undefined;
}

/** Makes all builds load through this loader: bundlers' elements through `guardLateFiles`, handwritten code through `__loadAsset`. */
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

/** Classifies a failed element. Its `error` event has no reason, so the status is read from Resource Timing where available. */
function failureAt(url: string): AssetFailure {
  const { href } = new URL(url, location.href);
  const [timing] = performance.getEntriesByName(href).slice(-1) as PerformanceResourceTiming[];
  if (timing?.responseStatus === 200) return 'corrupt';
  return timing?.responseStatus === 404 ? 'gone' : 'unreachable';
}

interface LoadOptions {
  timeoutMs: number;
  isAwaited: boolean;
  /** called when the file arrives after its timeout */
  onLate: () => void;
}

/** Appends the element and waits for it. A late arrival is harmless, since each build has its own container name. */
function appendAndWait(
  element: HTMLScriptElement | HTMLLinkElement,
  url: string,
  { timeoutMs, onLate }: LoadOptions,
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

function appendScript(url: string, options: LoadOptions): Promise<void> {
  const script = createCheckedElement('script');
  script.integrity = integrityOf(url);
  script.crossOrigin = 'anonymous';
  if (options.isAwaited) script.fetchPriority = 'high';
  // the policy refuses unlisted URLs; without Trusted Types, `integrityOf` has already refused them
  const policy = globalThis.__liaozhai?.policy;
  script.src = policy ? (policy.createScriptURL(url) as string) : url;
  return appendAndWait(script, url, options);
}

function appendStyle(url: string, options: LoadOptions): Promise<void> {
  const { href } = new URL(url, location.href);
  const isInlined = document.querySelector(`style[data-href="${new URL(href).pathname}"]`) !== null;
  const isApplied = isInlined || [...document.styleSheets].some((sheet) => sheet.href === href);
  if (isApplied) return Promise.resolve();
  const link = createCheckedElement('link');
  link.rel = 'stylesheet';
  link.integrity = integrityOf(url);
  link.crossOrigin = 'anonymous';
  link.href = url;
  return appendAndWait(link, url, options);
}

/** Retries once after 50–150 ms, bypassing the HTTP cache, where corrupt bytes are immutable. */
async function withRetry(url: string, append: (url: string) => Promise<void>) {
  try {
    await append(url);
  } catch (cause) {
    const kind = assetFailureOf(cause);
    if (kind !== 'unreachable' && kind !== 'corrupt') throw cause;
    await pause(50 + Math.random() * 100);
    await append(`${url}${url.includes('?') ? '&' : '?'}again=1`);
  }
}

const MIN_TIMEOUT_MS = 2500;
/** If no other build can take over, as on most first visits. */
const MIN_TIMEOUT_ALONE_MS = 10_000;
/** Bounds the measured time: a phone may sleep while the host's script loads. */
const MAX_TIMEOUT_MS = 30_000;

/** By the browser's `effectiveType`: a small file may take seconds while other files share a slow connection. */
const slowNetworkMs: Record<string, number> = { '3g': 6000, '2g': 15_000, 'slow-2g': MAX_TIMEOUT_MS };

/**
 * Timeout of a file, in ms: 2.5 s if another build can take over, else 10 s, and up to 30 s on a slow network. The network is
 * measured by the host's own script, which is larger than any file of a remote; 0 ms from a cache.
 */
export function loadTimeoutMs(hostEntry: string, hasFallback: boolean): number {
  // not supported by every browser
  const { connection } = navigator as Navigator & { connection?: { effectiveType?: string } };
  const { href } = new URL(hostEntry, location.href);
  const hostMs = performance.getEntriesByName(href)[0]?.duration ?? 0;
  const neededMs = Math.max(slowNetworkMs[connection?.effectiveType ?? ''] ?? 0, hostMs);
  return Math.min(Math.max(hasFallback ? MIN_TIMEOUT_MS : MIN_TIMEOUT_ALONE_MS, neededMs), MAX_TIMEOUT_MS);
}
