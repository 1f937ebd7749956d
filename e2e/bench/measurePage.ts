import type { Browser } from 'playwright';

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

export interface Sample {
  firstPaintMs: number;
  contentMs: number;
  /** the app has taken over from what the server drew, and its cards stand */
  readyMs: number;
  lcpMs: number;
  cls: number;
  blockingMs: number;
  requests: number;
  jsRequests: number;
  jsBytes: number;
  jsBytesToReady: number;
  bytes: number;
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

/** One cold visit in a fresh context under the profile's network and CPU. */
export async function measurePage(browser: Browser, url: string, profile: Profile, selector: string): Promise<Sample> {
  const context = await browser.newContext({ viewport, deviceScaleFactor: 1.75, serviceWorkers: 'block' });
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
  const loaded: { url: string; bytes: number }[] = [];
  cdp.on('Network.requestWillBeSent', ({ requestId, request }) => urls.set(requestId, request.url));
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) =>
    loaded.push({ url: urls.get(requestId) ?? '', bytes: encodedDataLength }),
  );
  // the compiler of this file names inner functions by a helper that the page does not have
  await page.addInitScript('globalThis.__name = (named) => named');
  await page.addInitScript(observe, selector);
  await page.goto(url, { waitUntil: 'commit' });
  await page.waitForFunction(() => window.__bench?.content > 0, undefined, { timeout: 60_000 });
  // what was asked for up to the content counts; what idles in later does not
  const upToContent = [...loaded];
  await page.waitForFunction(() => window.__bench.ready > 0, undefined, { timeout: 60_000 });
  const upToReady = [...loaded];
  await page.waitForLoadState('load');
  const seen = await page.evaluate(() => ({
    ...window.__bench,
    firstPaint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
  }));
  await context.close();
  const isScript = ({ url: loadedUrl }: { url: string }) => new URL(loadedUrl).pathname.endsWith('.js');
  const scripts = upToContent.filter(isScript);
  const sum = (list: { bytes: number }[]) => list.reduce((total, { bytes }) => total + bytes, 0);
  return {
    firstPaintMs: seen.firstPaint,
    contentMs: seen.content,
    readyMs: seen.ready,
    lcpMs: seen.lcp,
    cls: seen.cls,
    blockingMs: seen.blocking,
    requests: upToContent.length,
    jsRequests: scripts.length,
    jsBytes: sum(scripts),
    jsBytesToReady: sum(upToReady.filter(isScript)),
    bytes: sum(upToContent),
  };
}
