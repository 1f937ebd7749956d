import type { Browser, BrowserContext } from 'playwright';

export interface Profile {
  name: string;
  latencyMs: number;
  /** bytes per second; -1 = no limit */
  downBytesPerSecond: number;
  cpuSlowdown: number;
}

/** R counts rounds: with a second of latency and no other cost, floor(seconds) is their number. */
export const rounds: Profile = { name: 'R', latencyMs: 1000, downBytesPerSecond: -1, cpuSlowdown: 1 };
/** T is Lighthouse's "Slow 4G" as devtools applies it. */
export const time: Profile = {
  name: 'T',
  latencyMs: 562.5,
  downBytesPerSecond: (1.44 * 1024 * 1024) / 8,
  cpuSlowdown: 4,
};

/** A file that came over the network, not out of the cache. */
export interface Transfer {
  path: string;
  /** as sent, with its headers */
  bytes: number;
}

export interface Sample {
  firstPaintMs: number;
  contentMs: number;
  /** the app has taken over from what the server drew, and its cards stand */
  readyMs: number;
  lcpMs: number;
  cls: number;
  blockingMs: number;
  toContent: Transfer[];
  toReady: Transfer[];
}

export interface Visits {
  cold: Sample;
  /** right after the cold visit, in the same browser */
  warm: Sample;
}

declare global {
  interface Window {
    __bench: { content: number; ready: number; lcp: number; cls: number; blocking: number };
  }
}

const viewport = { width: 412, height: 823 };

/** Watches for the first story card, the largest paint, shifts and long tasks; runs in the page before anything else. */
function observe(selector: string) {
  const seen = { content: 0, ready: 0, lcp: 0, cls: 0, blocking: 0 };
  window.__bench = seen;
  new MutationObserver((_, observer) => {
    if (!document.querySelector(selector)) return;
    const isReady = document.querySelector('[data-first]') === null && document.readyState !== 'loading';
    if (isReady) observer.disconnect();
    requestAnimationFrame(() => {
      seen.content ||= performance.now();
      if (isReady) seen.ready ||= performance.now();
    });
  }).observe(document, { childList: true, subtree: true });
  const on = (type: string, handle: (entry: PerformanceEntry & { value?: number; hadRecentInput?: boolean }) => void) =>
    new PerformanceObserver((list) => list.getEntries().forEach(handle)).observe({ type, buffered: true });
  on('largest-contentful-paint', (entry) => {
    seen.lcp = entry.startTime;
  });
  on('layout-shift', (entry) => {
    if (!entry.hadRecentInput) seen.cls += entry.value ?? 0;
  });
  on('longtask', (entry) => {
    seen.blocking += Math.max(0, entry.duration - 50);
  });
}

async function visit(context: BrowserContext, url: string, profile: Profile, selector: string): Promise<Sample> {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: profile.latencyMs,
    downloadThroughput: profile.downBytesPerSecond,
    uploadThroughput: profile.downBytesPerSecond,
  });
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: profile.cpuSlowdown });
  const urls = new Map<string, string>();
  const loaded: Transfer[] = [];
  cdp.on('Network.requestWillBeSent', ({ requestId, request }) => urls.set(requestId, request.url));
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    // what the cache answered has no length
    if (encodedDataLength > 0)
      loaded.push({ path: new URL(urls.get(requestId) ?? url).pathname, bytes: encodedDataLength });
  });
  // the compiler of this file names inner functions by a helper that the page does not have
  await page.addInitScript('globalThis.__name = (named) => named');
  await page.addInitScript(observe, selector);
  await page.goto(url, { waitUntil: 'commit' });
  await page.waitForFunction(() => window.__bench?.content > 0, undefined, { timeout: 60_000 });
  // what was asked for up to the content counts; what idles in later does not
  const toContent = [...loaded];
  await page.waitForFunction(() => window.__bench.ready > 0, undefined, { timeout: 60_000 });
  const toReady = [...loaded];
  await page.waitForLoadState('load');
  const { content, ready, lcp, cls, blocking, firstPaint } = await page.evaluate(() => ({
    ...window.__bench,
    firstPaint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
  }));
  await page.close();
  return {
    firstPaintMs: firstPaint,
    contentMs: content,
    readyMs: ready,
    lcpMs: lcp,
    cls,
    blockingMs: blocking,
    toContent,
    toReady,
  };
}

/** A cold visit in a fresh context under the profile's network and CPU, and a second one after it. */
export async function measurePage(browser: Browser, url: string, profile: Profile, selector: string): Promise<Visits> {
  const context = await browser.newContext({ viewport, deviceScaleFactor: 1.75, serviceWorkers: 'block' });
  const cold = await visit(context, url, profile, selector);
  const warm = await visit(context, url, profile, selector);
  await context.close();
  return { cold, warm };
}
