import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright';
import { startSlowLink } from '../slowLink.ts';
import { emulate } from './device.ts';

/** Lighthouse's "Slow 4G" as devtools applies it. */
export const time = { latencyMs: 562.5, bytesPerSecond: (1.44 * 1024 * 1024) / 8, cpuSlowdown: 4 };

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

/** Watches for the first story card, the largest paint, shifts and long tasks; runs in the page before anything else. */
function observe(selector: string) {
  const seen = { content: 0, ready: 0, lcp: 0, cls: 0, blocking: 0 };
  window.__bench = seen;
  // asking for an animation frame would change when the page's own frames come, and what they cost
  const noteFrameOf = (content: Element, moments: readonly ('content' | 'ready')[]) =>
    new IntersectionObserver(([shown], observer) => {
      observer.disconnect();
      for (const moment of moments) {
        if (seen[moment]) continue;
        seen[moment] = shown?.time ?? 0;
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
    noteFrameOf(content, isReady ? ['content', 'ready'] : ['content']);
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

/** Opens a page under the slow CPU and, if the link is not slow itself, network, and notes what comes over that. */
async function openSlowly(context: BrowserContext, url: string, selector: string, isLinkSlow = false) {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await emulate(cdp, isLinkSlow ? { ...time, latencyMs: 0, bytesPerSecond: -1 } : time);
  const urls = new Map<string, string>();
  const loaded: Transfer[] = [];
  cdp.on('Network.requestWillBeSent', ({ requestId, request }) => urls.set(requestId, request.url));
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    // what the cache answered has no length
    if (encodedDataLength > 0)
      loaded.push({ path: new URL(urls.get(requestId) ?? url).pathname, bytes: encodedDataLength });
  });
  // told by the page: a question has the browser's driver run code of its own there, tens of ms amid a slowed start
  await cdp.send('Runtime.enable');
  await cdp.send('Runtime.addBinding', { name: '__benchTell' });
  const comes = (moment: Moment) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${url}: no ${moment} within a minute`)), 60_000);
      cdp.on('Runtime.bindingCalled', ({ payload }) => {
        if (payload !== moment) return;
        clearTimeout(timer);
        resolve();
      });
    });
  const isReady = comes('ready');
  // the compiler of this file names inner functions by a helper that the page does not have
  await page.addInitScript('globalThis.__name = (named) => named');
  await page.addInitScript(observe, selector);
  await page.goto(url, { waitUntil: 'commit' });
  return { page, loaded, isReady, comes };
}

async function visit(context: BrowserContext, url: string, selector: string, isLinkSlow = false): Promise<Sample> {
  const { page, loaded, isReady } = await openSlowly(context, url, selector, isLinkSlow);
  await isReady;
  // later files are fetched ahead, once the app is idle
  const toReady = [...loaded];
  await page.waitForLoadState('load');
  // told after its frame
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

/** What a device has of the one who is signed in. */
export type Member = Exclude<BrowserContextOptions['storageState'], string | undefined>;

/** A cold visit in a fresh context under the slow network and CPU, by a guest, or by the member whose device is given. */
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

/** A page whose product has a service worker is kept by it for its next visit. */
async function isKept() {
  if (!(await navigator.serviceWorker.getRegistration())) return true;
  const page = await caches.match(location.pathname, { cacheName: 'screens' });
  return navigator.serviceWorker.controller !== null && page !== undefined;
}

/** A visit over a slow link by a browser that has been there before over a fast one. It has the files it stored then. */
export async function measureReturn(browser: Browser, url: string, selector: string): Promise<Sample> {
  const { origin, pathname } = new URL(url);
  const link = await startSlowLink(origin);
  const context = await browser.newContext({ viewport, deviceScaleFactor: 1.75, serviceWorkers: 'allow' });
  try {
    const page = await context.newPage();
    await page.goto(link.origin + pathname);
    await page.waitForLoadState('networkidle', { timeout: 60_000 });
    await page.waitForFunction(isKept, undefined, { timeout: 60_000, polling: 500 });
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
  /** asked for after the tap */
  loaded: Transfer[];
}

/** What a guest finds on either tab: the button to sign in. */
const tabContent = 'main button';

/** Notes the tap, the long tasks since, and the frame that has the tab's content in sight; runs in the page. Returns where to tap. */
function watchTab([path, selector]: readonly [string, string]) {
  const seen = { tapped: 0, content: 0, blocking: 0 };
  window.__benchTab = seen;
  addEventListener('click', (event) => (seen.tapped ||= event.timeStamp), { capture: true });
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      const isOfTab = seen.tapped > 0 && startTime >= seen.tapped && (!seen.content || startTime < seen.content);
      if (isOfTab) seen.blocking += duration - 50;
    }
  }).observe({ type: 'longtask' });
  const look = () => {
    const found = [...document.querySelectorAll(selector)].some((element) => element.getClientRects().length > 0);
    if (!seen.tapped || location.pathname !== path || !found) return void requestAnimationFrame(look);
    seen.content = performance.now();
    window.__benchTell('tab');
  };
  requestAnimationFrame(look);
  const tab = document.querySelector(`nav a[href="${path}"]`)?.getBoundingClientRect() ?? new DOMRect();
  return [tab.x + tab.width / 2, tab.y + tab.height / 2] as const;
}

/** A cold visit to `origin/explore`, then the first tap on the tab of `path`, at the moment the app is ready. */
export async function measureTab(browser: Browser, origin: string, path: string): Promise<TabSample> {
  const context = await browser.newContext({
    viewport,
    deviceScaleFactor: 1.75,
    serviceWorkers: 'block',
    hasTouch: true,
  });
  const { page, loaded, isReady, comes } = await openSlowly(context, `${origin}/explore`, 'a[href^="/story/"]');
  await isReady;
  const tab = comes('tab');
  const [x, y] = await page.evaluate(watchTab, [path, tabContent] as const);
  const before = loaded.length;
  await page.touchscreen.tap(x, y);
  await tab;
  const byContent = loaded.length;
  const { tapped, content, blocking } = await page.evaluate(async () => {
    // long tasks are told after their end
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return window.__benchTab;
  });
  const sample = { contentMs: content - tapped, blockingMs: blocking, loaded: loaded.slice(before, byContent) };
  await context.close();
  return sample;
}
