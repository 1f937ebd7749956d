import type { Page } from '@playwright/test';
import { type Fault, type FaultyFront, startFaultyFront } from './site/faultyFront.ts';
import { card, expect, goToTab, test } from './site/test.ts';

const remotes = ['stories', 'chat', 'account', 'wallet'];
/** how long the page waits for a remote before it takes the last good one */
const LOAD_TIMEOUT_MS = 2500;

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
      const visit = async (origin: string) => {
        const context = await anotherBrowser({ baseURL: origin, serviceWorkers: 'block' });
        const page = await context.newPage();
        return { page, took: await bootTime(page), leave: () => context.close() };
      };
      /** Returns the page that has started through a front of its own, on which these remotes stay broken. */
      const startsWithout = async (broken: string[], front: FaultyFront) => {
        front.mend();
        const healthy = await visit(front.origin);
        await healthy.leave();
        front.breaks(new RegExp(`/builds/(${broken.join('|')})/`), fault);
        const visited = await visit(front.origin);
        expect(visited.took - healthy.took).toBeLessThan(LOAD_TIMEOUT_MS);
        return visited.page;
      };
      const goesOnWithout = async (broken: string[], page: Page) => {
        await expect(page.getByText(card)).toBeVisible();
        await goToTab(page, '我的');
        if (broken.includes('account')) await expect(page.getByText(card).filter({ visible: true })).toBeVisible();
        else await expect(page.getByRole('button', { name: '注册账号' })).toBeVisible();
        // what hangs keeps the load event waiting
        await page.goto('/test/list', { waitUntil: 'commit' });
        await expect(page.getByRole('heading').first()).toBeVisible();
      };
      // each start has the machine to itself; what hangs is then waited for in all pages together
      const started: { broken: string[]; page: Page }[] = [];
      const fronts: FaultyFront[] = [];
      for (const count of [1, 2, 3, 4])
        await test.step(`${count} of 4`, async () => {
          const broken = remotes.slice(0, count);
          const front = await startFaultyFront(new URL(site.front.origin));
          fronts.push(front);
          // an app that waited would be late each time, a busy machine is so once; how much exactly tells `pnpm bench releases browser`
          await expect(async () => {
            started.push({ broken, page: await startsWithout(broken, front) });
          }).toPass({ timeout: 120_000 });
        });
      await Promise.all(started.map(({ broken, page }) => goesOnWithout(broken, page)));
      for (const front of fronts) await front.close();
    });
  });
}
