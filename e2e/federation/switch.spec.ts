import type { Page } from '@playwright/test';
import { holdBack, type Person } from '../person.ts';
import type { Edition } from './site/edition.ts';
import type { Site } from './site/site.ts';
import { expect, goToTab, shownSet, test } from './site/test.ts';

const good: Edition = { remote: 'account', part: 'my', says: '旧的一版' };
const next: Edition = { remote: 'account', part: 'my', says: '新的一版' };
const LOOK_MS = 31_000;

// cached screens contain such links as well
const cards = (page: Page) => page.locator('main a[href^="/story/"]').filter({ visible: true });
const news = '有新版本';

/** Waits until the open page has checked the channel since the last call. */
const looked = (site: Site) => expect.poll(() => site.front.asked().join()).toContain('/channels/production.json');

async function publishBoth(site: Site) {
  return [await site.publish(good), await site.publish(next)] as const;
}

test('mf.switch: a newer set comes with the next navigation, as a new document, and the place in the list stays', async ({
  site,
  person,
  page,
}) => {
  const [older, newer] = await publishBoth(site);
  await site.activate(older);
  await page.clock.install();
  await page.goto('/explore');
  await looked(site);
  await cards(page).nth(8).scrollIntoViewIfNeeded();
  const place = () =>
    cards(page)
      .nth(8)
      .evaluate((link) => Math.round(link.getBoundingClientRect().top));
  const [placed, before] = [await place(), await shownSet(page)];
  await site.activate(newer);
  await page.clock.fastForward(LOOK_MS);
  await person.isTold(news);
  // a page without navigation does not change
  expect((await shownSet(page)).document).toBe(before.document);
  await goToTab(page, '我的');
  await expect(page.getByText(next.says, { exact: true })).toBeVisible();
  const after = await shownSet(page);
  expect(after.document).not.toBe(before.document);
  expect(after.builds.account).toBe(newer);
  await goToTab(page, '发现');
  await expect(cards(page).nth(8)).toBeVisible();
  await expect.poll(place).toBe(placed);
  // the new page stays on its set: no second document
  expect((await shownSet(page)).document).toBe(after.document);
});

test('mf.switch: a tap made while the new document is on its way wins over the one before', async ({
  site,
  person,
  page,
}) => {
  const [older, newer] = await publishBoth(site);
  await site.activate(older);
  await page.clock.install();
  await page.goto('/explore');
  await looked(site);
  await site.activate(newer);
  await page.clock.fastForward(LOOK_MS);
  await person.isTold(news);
  const release = await holdBack(page, '**/story/*');
  const second = cards(page).nth(1);
  const [address, title] = [await second.getAttribute('href'), await second.getByRole('heading').textContent()];
  // clicked in the page, because Playwright would wait for the pending navigation
  await second.evaluate((card) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => (card as HTMLElement).click();
    addEventListener('click', () => port2.postMessage(null), { once: true });
  });
  const secondAsked = page.waitForRequest(`**${address}`);
  await cards(page).first().click({ noWaitAfter: true });
  await secondAsked;
  release();
  await expect(page).toHaveURL(address ?? '');
  await expect(page.getByRole('heading', { name: title ?? '', level: 1 })).toBeVisible();
  expect((await shownSet(page)).builds.account).toBe(newer);
  // the new document knows that the list precedes it in the history
  await page.getByRole('button', { name: '返回' }).click();
  await expect(page).toHaveURL('/explore');
  await page.goForward();
  await expect(page).toHaveURL(address ?? '');
});

async function joinAndChat(person: Person, page: Page) {
  await person.open('/my');
  await page.getByRole('button', { name: '注册账号' }).click();
  await person.register();
  await goToTab(page, '发现');
  await cards(page).first().click();
  await person.openChat();
}

test('mf.switch: words not yet sent survive the new document', async ({ site, person, page }) => {
  const [older, newer] = await publishBoth(site);
  await site.activate(older);
  await page.clock.install();
  await joinAndChat(person, page);
  const draft = page.getByRole('textbox').last();
  await draft.fill('夜色渐深，灯还亮着');
  await looked(site);
  const before = await shownSet(page);
  await site.activate(newer);
  await page.clock.fastForward(LOOK_MS);
  await person.isTold(news);
  await page.getByRole('button', { name: '更新' }).click();
  await expect.poll(async () => (await shownSet(page)).builds.account).toBe(newer);
  expect((await shownSet(page)).document).not.toBe(before.document);
  await expect(person.log()).toBeVisible();
  await expect(page.getByRole('textbox').last()).toHaveValue('夜色渐深，灯还亮着');
});

test('mf.switch: a message on its way holds the new document back', async ({ site, person, page }) => {
  const [older, newer] = await publishBoth(site);
  await site.activate(older);
  await page.clock.install();
  await joinAndChat(person, page);
  await looked(site);
  const before = await shownSet(page);
  await site.activate(newer);
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await person.isTold(news);
  site.front.breaks(/^\/api\/v1\/messages$/, 'hang');
  // the page gives up on the message after 10 s
  const onItsWay = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/messages'));
  await person.says('你还在吗');
  await onItsWay;
  await page.evaluate(() => history.back());
  await expect(person.log()).toBeHidden();
  await page.evaluate(() => history.back());
  await expect(page).toHaveURL('/explore');
  await expect(cards(page).first()).toBeVisible();
  expect((await shownSet(page)).document).toBe(before.document);
});

test('mf.kill: an open page leaves a killed build within a minute', async ({ site, page }) => {
  const older = await site.publish(good);
  const doomed = await site.publish({ ...next, says: '将停用的一版' });
  await site.succeed(older, doomed);
  await page.clock.install();
  await page.goto('/my');
  await expect(page.getByText('将停用的一版', { exact: true })).toBeVisible();
  await looked(site);
  await site.release('kill', doomed, '--why', 'a test');
  await page.clock.fastForward(LOOK_MS);
  await expect(page.getByText(good.says, { exact: true })).toBeVisible();
});

test('mf.kill: an open popup is waited for, but not for longer than a minute', async ({ site, person, page }) => {
  const older = await site.publish(good);
  const doomed = await site.publish({ ...next, says: '将停用的二版' });
  await site.succeed(older, doomed);
  await page.clock.install();
  await page.goto('/my');
  await looked(site);
  await page.getByRole('button', { name: '注册账号' }).click();
  await expect(person.popup()).toBeVisible();
  const before = await shownSet(page);
  await site.release('kill', doomed, '--why', 'a test');
  await page.clock.fastForward(LOOK_MS);
  await expect(page.getByText('这个版本已停用')).toBeVisible();
  expect((await shownSet(page)).document).toBe(before.document);
  await page.clock.fastForward(60_000 - LOOK_MS);
  await expect(page.getByText(good.says, { exact: true })).toBeVisible();
});
