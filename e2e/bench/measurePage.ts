import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright';
import { startSlowLink } from '../slowLink.ts';
import { emulate } from './device.ts';

/** Lighthouse's "Slow 4G", as devtools applies it. */
export const time = { latencyMs: 562.5, bytesPerSecond: (1.44 * 1024 * 1024) / 8, cpuSlowdown: 4 };

/** A file loaded over the network, not from the cache. */
export interface Transfer {
  path: string;
  /** as transferred, with headers */
  bytes: number;
}

export interface Sample {
  firstPaintMs: number;
  contentMs: number;
  /** the app has replaced the server-rendered page, and its cards are visible */
  readyMs: number;
  lcpMs: number;
  cls: number;
  blockingMs: number;
  toReady: Transfer[];
}

type Moment = 'ready' | 'tab';

declare global {
  interface Window {
    __benchTab: { tapped: number; content: number; blocking: number };
    __benchTell(moment: Moment): void;
    __bench: { content: number; ready: number; lcp: number; cls: number; blocking: number };
  }
}

const viewport = { width: 412, height: 823 };

/** Observes the first story card, the largest paint, layout shifts and long tasks. Runs in the page before any other script. */
function observe(selector: string) {
  const metrics = { content: 0, ready: 0, lcp: 0, cls: 0, blocking: 0 };
  window.__bench = metrics;
  // requesting an animation frame would change the timing and cost of the page's frames
  const recordFrameOf = (content: Element, moments: readonly ('content' | 'ready')[]) =>
    new IntersectionObserver(([entry], observer) => {
      observer.disconnect();
      for (const moment of moments) {
        if (metrics[moment]) continue;
        metrics[moment] = entry?.time ?? 0;
        if (moment === 'ready') window.__benchTell(moment);
      }
    }).observe(content);
  let isContentNoted = false;
  new MutationObserver((_, observer) => {
    const content = document.querySelector(selector);
    if (!content) return;
    const isReady = document.querySelector('[data-first]') === null && document.readyState !== 'loading';
    if (isReady) observer.disconnect();
    else if (isContentNoted) return;
    isContentNoted = true;
    recordFrameOf(content, isReady ? ['content', 'ready'] : ['content']);
  }).observe(document, { childList: true, subtree: true });
  const on = (type: string, handle: (entry: PerformanceEntry & { value?: number; hadRecentInput?: boolean }) => void) =>
    new PerformanceObserver((list) => list.getEntries().forEach(handle)).observe({ type, buffered: true });
  on('largest-contentful-paint', (entry) => {
    metrics.lcp = entry.startTime;
  });
  on('layout-shift', (entry) => {
    if (!entry.hadRecentInput) metrics.cls += entry.value ?? 0;
  });
  on('longtask', (entry) => {
    metrics.blocking += Math.max(0, entry.duration - 50);
  });
}

/** Opens a page with a slow CPU and, unless the link is slow already, a slow network. Records the transferred files. */
async function openSlowly(context: BrowserContext, url: string, selector: string, isLinkSlow = false) {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await emulate(cdp, isLinkSlow ? { ...time, latencyMs: 0, bytesPerSecond: -1 } : time);
  const urls = new Map<string, string>();
  const loaded: Transfer[] = [];
  cdp.on('Network.requestWillBeSent', ({ requestId, request }) => urls.set(requestId, request.url));
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    // responses from the cache have no length
    if (encodedDataLength > 0)
      loaded.push({ path: new URL(urls.get(requestId) ?? url).pathname, bytes: encodedDataLength });
  });
  // reported by the page: polling would run the driver's code there, tens of ms during a throttled start
  await cdp.send('Runtime.enable');
  await cdp.send('Runtime.addBinding', { name: '__benchTell' });
  const waitFor = (moment: Moment) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${url}: no ${moment} within a minute`)), 60_000);
      cdp.on('Runtime.bindingCalled', ({ payload }) => {
        if (payload !== moment) return;
        clearTimeout(timer);
        resolve();
      });
    });
  const appReady = waitFor('ready');
  // the compiler of this file adds calls of a helper that the page does not have
  await page.addInitScript('globalThis.__name = (named) => named');
  await page.addInitScript(observe, selector);
  await page.goto(url, { waitUntil: 'commit' });
  return { page, loaded, appReady, waitFor };
}

async function visit(context: BrowserContext, url: string, selector: string, isLinkSlow = false): Promise<Sample> {
  const { page, loaded, appReady } = await openSlowly(context, url, selector, isLinkSlow);
  await appReady;
  // files transferred later are prefetched, once the app is idle
  const toReady = [...loaded];
  await page.waitForLoadState('load');
  // reported after its frame
  await page.waitForFunction(() => window.__bench.lcp > 0, undefined, { timeout: 60_000 });
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
    toReady,
  };
}

/** Cookies and storage of a signed-in device. */
export type Member = Exclude<BrowserContextOptions['storageState'], string | undefined>;

/** Measures a cold visit in a new context with a slow network and CPU, as a guest or as the given member. */
export async function measurePage(
  browser: Browser,
  url: string,
  selector: string,
  storageState?: Member,
): Promise<Sample> {
  const context = await browser.newContext({
    viewport,
    deviceScaleFactor: 1.75,
    serviceWorkers: 'block',
    storageState,
  });
  const sample = await visit(context, url, selector);
  await context.close();
  return sample;
}

/** Whether the service worker, if there is one, has cached the page for the next visit. */
async function isPageCached() {
  if (!(await navigator.serviceWorker.getRegistration())) return true;
  const page = await caches.match(location.pathname, { cacheName: 'screens' });
  return navigator.serviceWorker.controller !== null && page !== undefined;
}

/** Measures a repeated visit over a slow link, after a first visit over a fast link that filled the caches. */
export async function measureReturn(browser: Browser, url: string, selector: string): Promise<Sample> {
  const { origin, pathname } = new URL(url);
  const link = await startSlowLink(origin);
  const context = await browser.newContext({ viewport, deviceScaleFactor: 1.75, serviceWorkers: 'allow' });
  try {
    const page = await context.newPage();
    await page.goto(link.origin + pathname);
    await page.waitForLoadState('networkidle', { timeout: 60_000 });
    await page.waitForFunction(isPageCached, undefined, { timeout: 60_000, polling: 500 });
    await page.close();
    link.slowDown({ ...time, downBytesPerSecond: time.bytesPerSecond });
    return await visit(context, link.origin + pathname, selector, true);
  } finally {
    await context.close();
    link.stop();
  }
}

/** A first visit to another tab of the app. */
export interface TabSample {
  /** from the tap to the frame with the tab's content */
  contentMs: number;
  /** of the tasks in between */
  blockingMs: number;
  /** requested after the tap */
  loaded: Transfer[];
}

/** Content of either tab for a guest: the button to sign in. */
const tabContent = 'main button';

/** Records the tap, later long tasks, and the frame in which the tab's content is visible. Runs in the page. Returns where to tap. */
function watchTab([path, selector]: readonly [string, string]) {
  const sums = { tapped: 0, content: 0, blocking: 0 };
  window.__benchTab = sums;
  addEventListener('click', (event) => (sums.tapped ||= event.timeStamp), { capture: true });
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      const isOfTab = sums.tapped > 0 && startTime >= sums.tapped && (!sums.content || startTime < sums.content);
      if (isOfTab) sums.blocking += duration - 50;
    }
  }).observe({ type: 'longtask' });
  const check = () => {
    const isVisible = [...document.querySelectorAll(selector)].some((element) => element.getClientRects().length > 0);
    if (!sums.tapped || location.pathname !== path || !isVisible) return void requestAnimationFrame(check);
    sums.content = performance.now();
    window.__benchTell('tab');
  };
  requestAnimationFrame(check);
  const box = document.querySelector(`nav a[href="${path}"]`)?.getBoundingClientRect() ?? new DOMRect();
  return [box.x + box.width / 2, box.y + box.height / 2] as const;
}

/** Measures the first tap on the tab of `path`, as soon as a cold visit to `origin/explore` is ready. */
export async function measureTab(browser: Browser, origin: string, path: string): Promise<TabSample> {
  const context = await browser.newContext({
    viewport,
    deviceScaleFactor: 1.75,
    serviceWorkers: 'block',
    hasTouch: true,
  });
  const { page, loaded, appReady, waitFor } = await openSlowly(context, `${origin}/explore`, 'a[href^="/story/"]');
  await appReady;
  const tab = waitFor('tab');
  const [x, y] = await page.evaluate(watchTab, [path, tabContent] as const);
  const start = loaded.length;
  await page.touchscreen.tap(x, y);
  await tab;
  const end = loaded.length;
  const { tapped, content, blocking } = await page.evaluate(async () => {
    // long tasks are reported after their end
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return window.__benchTab;
  });
  const sample = { contentMs: content - tapped, blockingMs: blocking, loaded: loaded.slice(start, end) };
  await context.close();
  return sample;
}
