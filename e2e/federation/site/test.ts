import { createHash } from 'node:crypto';
import type { Page } from '@playwright/test';
import { test as base, expect } from '../../person.ts';
import { type Site, startSite } from './site.ts';

/** One site per worker. A test activates the builds that it needs. */
export const test = base.extend<{ mended: undefined }, { site: Site }>({
  site: [
    async ({ browserName: _ }, use) => {
      const site = await startSite();
      await use(site);
      await site.stop();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  baseURL: ({ site }, use) => use(site.front.origin),
  mended: [
    async ({ site }, use, { testId }) => {
      // otherwise reports of earlier tests would use up this test's limit
      site.front.comesFrom(addressOf(testId));
      // requests by pages of the previous test do not count
      site.front.asked();
      site.front.beacons();
      await use(undefined);
      site.front.mend();
    },
    { auto: true },
  ],
});

/** A distinct address for each test. The product identifies the sender of a report only by its address. */
function addressOf(testId: string): string {
  const bytes = createHash('sha256').update(testId).digest();
  return `10.${bytes[0]}.${bytes[1]}.${bytes[2]}`;
}

export const card = '暂时打不开';

/** Records whether the page ever showed the card of a failed pane, even briefly. */
export async function watchForCard(page: Page): Promise<() => Promise<boolean>> {
  await page.addInitScript((text) => {
    new MutationObserver(() => {
      if (document.body?.textContent?.includes(text)) Reflect.set(globalThis, '__sawCard', true);
    }).observe(document, { childList: true, subtree: true, characterData: true });
  }, card);
  return async () => (await page.evaluate(() => Reflect.get(globalThis, '__sawCard'))) === true;
}

export { expect };

export async function goToTab(page: Page, name: string) {
  await page.getByRole('navigation').getByRole('link', { name }).click();
}

interface ShownSet {
  /** changes with every new document */
  document: string;
  set: string;
  candidate: boolean;
  /** build ids by package */
  builds: Record<string, string>;
}

/** The set that the page's HTML contains. */
export const shownSet = (page: Page): Promise<ShownSet> =>
  page.evaluate(() => {
    const { set, candidate, host, remotes } = JSON.parse(
      document.getElementById('liaozhai-set')?.textContent ?? '{}',
    ) as {
      set: string;
      candidate: boolean;
      host: { id: string };
      remotes: Record<string, { id: string }>;
    };
    const builds = Object.fromEntries(Object.entries(remotes).map(([name, { id }]) => [name, id]));
    const mark = (Reflect.get(globalThis, '__document') as string | undefined) ?? crypto.randomUUID();
    Reflect.set(globalThis, '__document', mark);
    return { document: mark, set, candidate, builds: { ...builds, host: host.id } };
  });
