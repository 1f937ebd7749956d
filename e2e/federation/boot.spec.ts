import type { Page } from '@playwright/test';
import type { Fault } from './site/faultyFront.ts';
import { card, expect, goToTab, test } from './site/test.ts';

const remotes = ['stories', 'chat', 'account', 'wallet'];
/** how long the page waits for a remote before it takes the last good one */
const loadTimeoutMs = 2500;

/** Opens the app in a browser without a cache. Returns the milliseconds from the navigation's start until it answers to taps. */
async function bootTime(page: Page): Promise<number> {
  await page.goto('/explore', { waitUntil: 'commit' });
  const booted = await page.waitForFunction(() => {
    const link = document.querySelector('nav a');
    // React has taken the markup over
    const isAlive = link && Object.keys(link).some((key) => key.startsWith('__reactProps'));
    return isAlive ? performance.now() : null;
  });
  return Number(await booted.jsonValue());
}

const faults: Record<string, Fault> = { dead: { status: 503 }, hung: 'hang' };

for (const [name, fault] of Object.entries(faults)) {
  test.describe(() => {
    test.use({ judgesHangs: fault === 'hang' });
    test(`mf.boot: the app starts with 1, 2, 3 and 4 of 4 remotes ${name}`, async ({ site, anotherBrowser }) => {
      const visit = async (look: (page: Page, took: number) => Promise<void>) => {
        const context = await anotherBrowser({ baseURL: site.front.origin, serviceWorkers: 'block' });
        const page = await context.newPage();
        await look(page, await bootTime(page));
        await context.close();
      };
      const startsWithout = async (broken: string[]) => {
        site.front.mend();
        let healthy = 0;
        await visit(async (_, took) => {
          healthy = took;
        });
        site.front.breaks(new RegExp(`/builds/(${broken.join('|')})/`), fault);
        await visit(async (page, took) => {
          expect(took - healthy).toBeLessThan(loadTimeoutMs);
          await expect(page.getByText(card)).toBeVisible();
          await goToTab(page, '我的');
          if (broken.includes('account')) await expect(page.getByText(card).filter({ visible: true })).toBeVisible();
          else await expect(page.getByRole('button', { name: '注册账号' })).toBeVisible();
          // what hangs keeps the load event waiting
          await page.goto('/test/list', { waitUntil: 'commit' });
          await expect(page.getByRole('heading').first()).toBeVisible();
        });
      };
      for (const count of [1, 2, 3, 4])
        await test.step(`${count} of 4`, () =>
          // an app that waited would be late each time, a busy machine is so once; how much exactly tells `pnpm bench releases browser`
          expect(() => startsWithout(remotes.slice(0, count))).toPass({ timeout: 120_000 }));
    });
  });
}
