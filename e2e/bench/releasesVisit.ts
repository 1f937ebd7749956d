import type { Browser, Page } from 'playwright';
import { type Fault, type FaultyFront, startFaultyFront } from '../federation/site/faultyFront.ts';

/** Which paths meet which fault. */
export type Break = [path: RegExp, fault: Fault];

/** 150 ms, 1.6 Mbit/s */
const network = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 200_000 };

export async function slowDown(page: Page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', network);
}

/** One cold visit in a context and through a front of its own, so that visits may run side by side. */
export async function visit<T>(
  browser: Browser,
  origin: string,
  breaks: readonly Break[],
  work: (page: Page, front: FaultyFront) => Promise<T>,
): Promise<T> {
  const front = await startFaultyFront(new URL(origin));
  for (const [path, fault] of breaks) front.breaks(path, fault);
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    baseURL: front.origin,
    serviceWorkers: 'block',
  });
  try {
    return await work(await context.newPage(), front);
  } finally {
    await context.close();
    await front.close();
  }
}

/** Milliseconds from the navigation's start until the app answers to taps, with a story card if asked for; null = never. */
export async function bootMs(page: Page, withCard: boolean, timeout = 15_000): Promise<number | null> {
  await page.goto('/explore', { waitUntil: 'commit' });
  const booted = page.waitForFunction(
    (wantsCard) => {
      const link = document.querySelector('nav a');
      // React has taken over what the server drew
      const isAlive = link && Object.keys(link).some((key) => key.startsWith('__reactProps'));
      const hasCard = !document.querySelector('[data-first]') && document.querySelector('a[href^="/story/"]');
      return isAlive && (hasCard || !wantsCard) ? performance.now() : null;
    },
    withCard,
    { timeout },
  );
  return booted.then(
    async (handle) => Number(await handle.jsonValue()),
    () => null,
  );
}
