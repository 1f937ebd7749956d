import type { Page } from '@playwright/test';
import { type Fault, type FaultyFront, startFaultyFront } from './site/faultyFront.ts';
import { card, expect, goToTab, test } from './site/test.ts';

const remotes = ['stories', 'chat', 'account', 'wallet'];
/** time limit for a remote, after which the page loads the last good build */
const LOAD_TIMEOUT_MS = 2500;

/** Opens the app in a browser without a cache. Returns the milliseconds from the start of navigation until it reacts to taps. */
async function bootTime(page: Page): Promise<number> {
  await page.goto('/explore', { waitUntil: 'commit' });
  const booted = await page.waitForFunction(() => {
    const link = document.querySelector('nav a');
    // React has hydrated the markup
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
      /** Returns a page that has started with these remotes broken, through a separate front. */
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
        // a pending file delays the load event
        await page.goto('/test/list', { waitUntil: 'commit' });
        await expect(page.getByRole('heading').first()).toBeVisible();
      };
      // the starts run one by one; time limits of slow files then elapse in all pages together
      const started: { broken: string[]; page: Page }[] = [];
      const fronts: FaultyFront[] = [];
      for (const count of [1, 2, 3, 4])
        await test.step(`${count} of 4`, async () => {
          const broken = remotes.slice(0, count);
          const front = await startFaultyFront(new URL(site.front.origin));
          fronts.push(front);
          // an app that waits is slow every time, a busy machine only once; `pnpm bench releases browser` measures exactly
          await expect(async () => {
            started.push({ broken, page: await startsWithout(broken, front) });
          }).toPass({ timeout: 120_000 });
        });
      await Promise.all(started.map(({ broken, page }) => goesOnWithout(broken, page)));
      for (const front of fronts) await front.close();
    });
  });
}
