import type { Page } from '@playwright/test';
import { triesAgain } from '../person.ts';
import type { Breakage, Edition } from './site/edition.ts';
import type { Fault } from './site/faultyFront.ts';
import { filesOf, type Site } from './site/site.ts';
import { card, expect, test, watchForCard } from './site/test.ts';

/** 150 ms, 1.6 Mbit/s */
const network = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 200_000 };

const good: Edition = { remote: 'account', part: 'my', says: '旧的一版' };
const next: Edition = { remote: 'account', part: 'my', says: '新的一版' };
const broken = (how: Breakage): Edition => ({ ...next, says: how, broken: how });

const tampered: Fault = { rewrite: (body) => `${body};globalThis.__tampered = true;` };

interface FailureClass {
  edition: Edition;
  /** which files of the build fail, and how */
  fault?: [part: string, fault: Fault];
  failure: string;
}

const classes: Record<string, FailureClass> = {
  'an entry that is gone': {
    edition: next,
    fault: ['remoteEntry.js', { status: 404 }],
    failure: 'unreachable',
  },
  'an entry that answers 503': {
    edition: next,
    fault: ['remoteEntry.js', { status: 503 }],
    failure: 'unreachable',
  },
  'an entry that hangs': { edition: next, fault: ['remoteEntry.js', 'hang'], failure: 'hang' },
  'an entry with other bytes': {
    edition: next,
    fault: ['remoteEntry.js', tampered],
    failure: 'integrity',
  },
  'an entry that throws': { edition: broken('entry throws'), failure: 'entry-threw' },
  'a module that throws': { edition: broken('module throws'), failure: 'init-threw' },
  'a module that is missing': { edition: broken('module missing'), failure: 'module-missing' },
  'a late chunk that is lost': {
    edition: next,
    fault: ['static/js/my.', { status: 404 }],
    failure: 'chunk-lost',
  },
  'a late chunk that hangs': {
    edition: next,
    fault: ['static/js/my.', 'hang'],
    failure: 'chunk-lost',
  },
  'a late stylesheet that is lost': {
    edition: next,
    fault: ['static/css/my.', { status: 404 }],
    failure: 'chunk-lost',
  },
  'a first render that throws': { edition: broken('first render throws'), failure: 'render-threw' },
  'a wrong contract': { edition: broken('wrong contract'), failure: 'contract' },
};

const tab = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name });

/** Activates the newer build over the good one; a broken build is added by an override link. Returns the build that fails. */
async function release(site: Site, page: Page, edition: Edition): Promise<string> {
  const newer = await site.publish(next);
  await site.succeed(await site.publish(good), newer);
  if (!edition.broken) return newer;
  const build = await site.publish(edition);
  const { query } = await site.release('override', build);
  await page.request.get(`/my${query}`);
  return build;
}

/** Opens the app, waits until it is idle, and opens 我的 over a slow connection. */
async function openMy(site: Site, page: Page, build: string) {
  site.front.asked();
  await page.goto('/explore');
  await expect(page.locator('a[href^="/story/"]').first()).toBeVisible();
  const asked: string[] = [];
  // the last file of 我的 that the app prefetches
  await expect.poll(() => asked.push(...site.front.asked()) && asked.join()).toMatch(filesOf(build, 'static/css/my.'));
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', network);
  await tab(page, '我的').click();
}

const failuresOf = (site: Site, build: string) =>
  site.front.beacons().filter((beacon) => beacon.build === build && beacon.outcome === 'failed');

// `pnpm bench releases browser` measures the speed
for (const [name, { edition, fault, failure }] of Object.entries(classes)) {
  test.describe(() => {
    test.use({ judgesHangs: fault?.[1] === 'hang' });
    test(`mf.last-good: ${name} gives way to the last good build, quietly`, async ({ site, page }) => {
      const build = await release(site, page, edition);
      // the fallback of an override is stable, the fallback of stable is the previous build
      const { says } = edition.broken ? next : good;
      if (fault) site.front.breaks(filesOf(build, fault[0]), fault[1]);
      const sawCard = await watchForCard(page);
      await openMy(site, page, build);
      await expect(page.getByText(says, { exact: true })).toBeVisible();
      expect(await sawCard()).toBe(false);
      expect(await page.evaluate(() => Reflect.get(globalThis, '__tampered'))).toBeUndefined();
      await expect.poll(() => failuresOf(site, build)).toMatchObject([{ failure }]);
      // the next document of this browser avoids the build, and the failure is reported only once
      site.front.asked();
      await page.reload();
      await expect(page.getByText(says, { exact: true })).toBeVisible();
      const ran = await page.evaluate(() => [...document.scripts].map((script) => script.src));
      expect(ran.filter((src) => filesOf(build).test(src))).toEqual([]);
      expect(failuresOf(site, build)).toEqual([]);
    });
  });
}

test('mf.retry: with both builds gone a card stands in the pane; either one repaired opens by 重试', async ({
  site,
  page,
}) => {
  const [lastGood, build] = [await site.publish(good), await release(site, page, next)];
  site.front.breaks(filesOf(build), { status: 404 });
  site.front.breaks(filesOf(lastGood), { status: 404 });
  await page.goto('/my');
  await expect(page.getByText(card)).toBeVisible();
  await tab(page, '发现').click();
  await expect(page.locator('a[href^="/story/"]').first()).toBeVisible();
  await tab(page, '我的').click();
  await page.getByRole('button', { name: '重试' }).click();
  await expect(page.getByText(card)).toBeVisible();
  // only the newer build works again
  site.front.mend();
  site.front.breaks(filesOf(lastGood), { status: 404 });
  await triesAgain(page);
  await expect(page.getByText(next.says, { exact: true })).toBeVisible();
});

test('mf.retry: a quarantined build still stands in when the last good one is gone', async ({
  site,
  page,
  anotherBrowser,
}) => {
  const [lastGood, build] = [await site.publish(good), await release(site, page, next)];
  site.front.breaks(filesOf(build), { status: 404 });
  await page.goto('/my');
  await expect(page.getByText(good.says, { exact: true })).toBeVisible();
  site.front.mend();
  site.front.breaks(filesOf(lastGood), { status: 404 });
  // a browser that remembers the failure, but has no cached files
  const other = await anotherBrowser({ storageState: await page.context().storageState() });
  const fresh = await other.newPage();
  await fresh.goto(`${site.front.origin}/my`);
  await expect(fresh.getByText(next.says, { exact: true })).toBeVisible();
  expect(site.front.asked().join()).toMatch(filesOf(lastGood));
});
