import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { appIsUp, toldBy } from '../person.ts';
import type { Edition } from './site/edition.ts';
import { filesOf } from './site/site.ts';
import { card, expect, goToTab, shownSet, test } from './site/test.ts';

const good: Edition = { remote: 'account', part: 'my', says: '旧的一版' };
const next: Edition = { remote: 'account', part: 'my', says: '新的一版' };

const script = { rewrite: (body: string) => `${body};globalThis.__tampered = true;` };
const style = { rewrite: (body: string) => `${body} :root { --tampered: yes; }` };

/** Whether a changed file took effect. */
const wasTampered = (page: Page) =>
  page.evaluate(
    () =>
      Reflect.has(globalThis, '__tampered') ||
      getComputedStyle(document.documentElement).getPropertyValue('--tampered') !== '',
  );

const channelOf = (store: string) => readFileSync(join(store, 'channels/production.json'), 'utf8');

/** Writes a channel document as an attacker with access to the store but without the key. */
function plant(store: string, text: string) {
  const generations = join(store, '.generations/channels/production.json');
  const newest = Math.max(...readdirSync(generations).map(Number));
  writeFileSync(join(generations, String(newest + 1)), text);
}

const files = {
  'the entry': ['/builds/account/.*/remoteEntry.js', script],
  'a late chunk': ['/builds/account/.*/static/js/my\\.', script],
  'a late stylesheet': ['/builds/account/.*/static/css/my\\.', style],
} as const;

for (const [name, [path, fault]] of Object.entries(files)) {
  for (const opened of ['/my', '/explore']) {
    test(`mf.tamper: ${name}, changed in every build, opened by ${opened}: nothing of it takes effect`, async ({
      site,
      page,
    }) => {
      await site.succeed(await site.publish(good), await site.publish(next));
      site.front.breaks(new RegExp(path), fault);
      await page.goto(opened);
      await goToTab(page, '我的');
      await expect(page.getByText(card)).toBeVisible();
      expect(await wasTampered(page)).toBe(false);
      await goToTab(page, '发现');
      await expect(page.locator('a[href^="/story/"]').first()).toBeVisible();
    });
  }
}

test('mf.tamper: the host script, changed: nothing of it takes effect', async ({ site, page }) => {
  site.front.breaks(/\/builds\/host\/.*\.js/, script);
  const refused = page.waitForEvent('console', (message) => /integrity/i.test(message.text()));
  await page.goto('/explore');
  await refused;
  expect(await wasTampered(page)).toBe(false);
});

test('mf.tamper: a file whose hash was removed from the page is not requested', async ({ site, page }) => {
  const build = await site.publish(next);
  await site.succeed(await site.publish(good), build);
  const listed = /"\/builds\/account\/[^"]+\/static\/js\/my\.[^"]+":"sha384-[^"]+",?/g;
  let removed = 0;
  const rewrite = (html: string) => {
    removed += html.match(listed)?.length ?? 0;
    return html.replace(listed, '');
  };
  site.front.breaks(/^\/explore$/, { rewrite });
  await page.goto('/explore');
  expect(removed).toBeGreaterThan(0);
  await appIsUp(page);
  await goToTab(page, '我的');
  await expect(page.getByText(card)).toBeVisible();
  expect(site.front.asked().filter((path) => /\/builds\/account\/.*\/my\..*\.js/.test(path))).toEqual([]);
  await goToTab(page, '发现');
  await expect(page.locator('a[href^="/story/"]').first()).toBeVisible();
});

test('mf.tamper: a page whose hash fits neither the file nor what it was changed to runs neither', async ({
  site,
  page,
}) => {
  const build = await site.publish(next);
  await site.succeed(await site.publish(good), build);
  let replaced = 0;
  const hash = /(?<="\/builds\/account\/[^"]+\/my\.[^"]+\.js":"sha384-)..../g;
  const changed = {
    rewrite: (html: string) =>
      html.replace(hash, () => {
        replaced += 1;
        return 'AAAA';
      }),
  };
  site.front.breaks(/^\/explore$/, changed);
  site.front.breaks(filesOf(build, 'static/js/my.'), script);
  await page.goto('/explore');
  expect(replaced).toBeGreaterThan(0);
  await appIsUp(page);
  await goToTab(page, '我的');
  await expect(page.getByText(card)).toBeVisible();
  expect(await wasTampered(page)).toBe(false);
});

/** Opens a page with a fake clock, and waits until it has checked the channel. */
async function openFollowing(page: Page, asked: () => string[]) {
  await page.clock.install();
  await page.goto('/explore');
  await expect.poll(() => asked().join()).toContain('/channels/production.json');
}

const news = '有新版本';

test('mf.tamper: a changed channel document moves no page', async ({ site, page }) => {
  await site.succeed(await site.publish(good), await site.publish(next));
  await openFollowing(page, site.front.asked);
  const before = await shownSet(page);
  site.front.breaks(/^\/channels\//, { rewrite: (text) => text.replaceAll(before.set, '0'.repeat(before.set.length)) });
  await page.clock.fastForward(31_000);
  await expect.poll(() => site.front.asked().join()).toContain('/channels/production.json');
  expect(await toldBy(page)).not.toContain(news);
  await goToTab(page, '我的');
  await expect(page.getByText(next.says, { exact: true })).toBeVisible();
  expect((await shownSet(page)).document).toBe(before.document);
});

test('mf.tamper: an older channel document, rightly signed, moves no page', async ({ site, page }) => {
  const [older, newer] = [await site.publish(good), await site.publish(next)];
  await site.succeed(older, newer);
  const replayed = channelOf(site.store);
  await site.activate(older);
  await openFollowing(page, site.front.asked);
  const before = await shownSet(page);
  site.front.breaks(/^\/channels\//, { rewrite: () => replayed });
  await page.clock.fastForward(31_000);
  await expect.poll(() => site.front.asked().join()).toContain('/channels/production.json');
  expect(await toldBy(page)).not.toContain(news);
  await goToTab(page, '我的');
  await expect(page.getByText(good.says, { exact: true })).toBeVisible();
  expect((await shownSet(page)).document).toBe(before.document);
});

test('mf.tamper: a store whose channel is put back or changed goes on serving the newest state', async ({
  site,
  page,
}) => {
  const [older, newer] = [await site.publish(good), await site.publish(next)];
  await site.succeed(newer, older);
  const replayed = channelOf(site.store);
  await site.activate(newer);
  await page.goto('/my');
  await expect(page.getByText(next.says, { exact: true })).toBeVisible();
  const newest = channelOf(site.store);
  const { set } = await shownSet(page);
  const wrongs = {
    'went back from state': replayed,
    'is not signed by': newest.replaceAll(set, '0'.repeat(set.length)),
    'is damaged': newest.slice(0, -20),
  };
  try {
    for (const [complaint, wrong] of Object.entries(wrongs)) {
      plant(site.store, wrong);
      const heard = async () => {
        await page.request.get('/my');
        return site.complaints();
      };
      await expect.poll(heard).toContain(complaint);
      await page.goto('/my');
      await expect(page.getByText(next.says, { exact: true })).toBeVisible();
      expect((await shownSet(page)).set).toBe(set);
    }
  } finally {
    plant(site.store, newest);
  }
});
