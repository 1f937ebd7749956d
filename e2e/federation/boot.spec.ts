import type { Page } from '@playwright/test';
import type { Fault } from './site/faultyFront.ts';
import { card, expect, goToTab, test } from './site/test.ts';

const remotes = ['stories', 'chat', 'account', 'wallet'];
const addedMs = 300;

/** Milliseconds from the navigation's start until the app answers to a tap. */
async function bootTime(page: Page, path: string): Promise<number> {
  await page.goto(path, { waitUntil: 'commit' });
  const booted = await page.waitForFunction(() => {
    const link = document.querySelector('nav a');
    const isMounted = link && Object.keys(link).some((key) => key.startsWith('__reactProps'));
    return isMounted ? performance.now() : null;
  });
  return Number(await booted.jsonValue());
}

const faults: Record<string, Fault> = { dead: { status: 503 }, hung: 'hang' };

for (const [name, fault] of Object.entries(faults)) {
  for (const count of [1, 2, 3, 4]) {
    test(`mf.boot: the app starts with ${count} of 4 remotes ${name}`, async ({ site, page }) => {
      await bootTime(page, '/explore');
      const healthy = await bootTime(page, '/explore');
      const broken = remotes.slice(0, count);
      site.front.breaks(new RegExp(`/builds/(${broken.join('|')})/`), fault);
      // what an earlier page kept must not stand in for the broken files
      const cdp = await page.context().newCDPSession(page);
      await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
      const uncached = Math.max(healthy, 150);
      // the host's own files come uncached as well, so the healthy time counts twice
      expect(await bootTime(page, '/explore')).toBeLessThan(2 * uncached + addedMs);
      await expect(page.getByText(card)).toBeVisible();
      await goToTab(page, '我的');
      if (broken.includes('account')) await expect(page.getByText(card).filter({ visible: true })).toBeVisible();
      else await expect(page.getByRole('button', { name: '注册账号' })).toBeVisible();
      await page.goto('/test/list');
      await expect(page.getByRole('heading').first()).toBeVisible();
    });
  }
}
