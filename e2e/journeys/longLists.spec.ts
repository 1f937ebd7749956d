import type { Page } from '@playwright/test';
import { appIsUp, expect, holdBack, type Person, test } from '../person.ts';
import { seededAccount } from '../seeds.ts';

const PAGE_SIZE = 20;
/** Slow enough that the list cannot be fetched again, page by page, while its position is restored. */
const ANSWERS_AFTER_MS = 300;

/** Answers a list as if it had `total` entries. Returns the requested cursors. */
async function answersLong(
  page: Page,
  list: RegExp,
  total: number,
  entryAt: (index: number) => object,
  afterMs = ANSWERS_AFTER_MS,
) {
  const asked: string[] = [];
  await page.route(list, async (route) => {
    const cursor = new URL(route.request().url()).searchParams.get('cursor');
    asked.push(cursor ?? 'first');
    const start = cursor === null ? 0 : Number(cursor) || PAGE_SIZE;
    const end = Math.min(start + PAGE_SIZE, total);
    const data = Array.from({ length: end - start }, (_, index) => entryAt(start + index));
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    const body = { data, meta: { next_cursor: end < total ? String(end) : null } };
    await route.fulfill({ json: body }).catch(() => undefined);
  });
  return asked;
}

const links = (page: Page) => page.locator('main:visible li a[href^="/story/"]');

/** Number of listed entries. A long list keeps only cards near the view in the document, each with its position. */
async function reached(page: Page) {
  const place = await links(page)
    .last()
    .evaluate((link) => link.closest('li')?.ariaPosInSet);
  return place ? Number(place) : links(page).count();
}

/** Scrolls until this many entries are listed, and then back up a little. */
async function readsOnTo(page: Page, count: number) {
  await expect(async () => {
    await page.locator('main:visible').evaluate((main) => main.scrollTo(0, main.scrollHeight));
    expect(await reached(page)).toBeGreaterThanOrEqual(count);
  }).toPass({ intervals: [50] });
  await page.locator('main:visible').evaluate((main) => main.scrollBy(0, -1500));
}

const place = (page: Page) =>
  page.locator('main:visible').evaluate((main) => {
    const inSight = [...main.querySelectorAll('li a[href^="/story/"]')].find(
      (link) => link.getBoundingClientRect().top >= 0,
    );
    return { top: Math.round(main.scrollTop), first: inSight?.getAttribute('href') };
  });

async function findsItsPlaceAfterReload(person: Person, asked: string[], count: number) {
  const { page } = person;
  await readsOnTo(page, count);
  await expect.poll(async () => (await place(page)).first).toBeTruthy();
  const before = await place(page);
  await expect.poll(() => person.kept()).toContain(`long-${count - 1}`);
  asked.length = 0;
  await page.reload({ waitUntil: 'domcontentloaded' });
  await appIsUp(page);
  await expect.poll(() => place(page)).toEqual(before);
  expect(asked.filter((cursor) => cursor !== 'first' && (Number(cursor) || PAGE_SIZE) < count)).toEqual([]);
}

const story = (index: number) => ({
  id: `long-${index}`,
  title: `长卷第${index}则`,
  summary: '翻到这里，再翻回来，也还是这一页。',
  tags: ['长卷'],
  characters: [],
});

test('发现, read far down, is found at the same place after a reload', async ({ person, page }) => {
  const asked = await answersLong(page, /\/api\/v1\/stories(\?|$)/, 500, story);
  await person.open('/explore');
  await appIsUp(page);
  await findsItsPlaceAfterReload(person, asked, 400);
});

test('发现, put back to its place, draws what stands there without waiting for a scroll event', async ({
  person,
  page,
}) => {
  const asked = await answersLong(page, /\/api\/v1\/stories(\?|$)/, 500, story, 0);
  await person.open('/explore');
  await appIsUp(page);
  // the browser's scroll events arrive with a frame, late on a busy machine
  await page.addInitScript(() => {
    addEventListener('scroll', (event) => event.isTrusted && event.stopImmediatePropagation(), { capture: true });
  });
  await findsItsPlaceAfterReload(person, asked, 300);
});

test('of 发现, read far down, few cards are in the document; a tapped one is there again on the way back', async ({
  person,
  page,
}) => {
  await answersLong(page, /\/api\/v1\/stories(\?|$)/, 300, story, 0);
  await page.route(/\/api\/v1\/stories\/long-/, (route) =>
    route.fulfill({ json: { data: story(Number(route.request().url().split('-').pop())) } }),
  );
  await person.open('/explore');
  await appIsUp(page);
  await readsOnTo(page, 300);
  await expect.poll(() => links(page).count()).toBeLessThan(60);
  const before = await place(page);
  const card = page.locator(`main:visible a[href="${before.first}"]`);
  await expect(card.locator('xpath=ancestor::li')).toHaveAttribute('aria-setsize', '300');
  await card.click();
  await expect(page).toHaveURL(before.first ?? '');
  await page.goBack();
  await expect.poll(() => place(page)).toEqual(before);
  await expect(card).toBeInViewport();
  await expect(card).toBeFocused();
});

test('发现, read far down, fills the phone that was turned while another tab was open', async ({ person, page }) => {
  await answersLong(page, /\/api\/v1\/stories(\?|$)/, 300, story, 0);
  await person.open('/explore');
  await appIsUp(page);
  await readsOnTo(page, 300);
  const tab = (name: string) => page.getByRole('navigation').getByRole('link', { name }).tap();
  await tab('我的');
  await expect(page.getByRole('button', { name: /登录/ }).first()).toBeVisible();
  await page.setViewportSize({ width: 844, height: 390 });
  await tab('发现');
  const inSight = () =>
    links(page).evaluateAll(
      (cards) =>
        cards.map((card) => card.getBoundingClientRect()).filter(({ y, bottom }) => y < innerHeight && bottom > 0)
          .length,
    );
  await expect.poll(inSight).toBeGreaterThan(3);
  await page.locator('main:visible').evaluate((main) => main.scrollTo(0, main.scrollHeight / 2));
  await expect.poll(inSight).toBeGreaterThan(3);
});

test('聊过, read far down, is found at the same place after a reload', async ({ person, page }) => {
  await person.returns(await seededAccount({}));
  const day = Date.parse('2026-11-20T00:00:00Z');
  const asked = await answersLong(page, /\/api\/v1\/conversations(\?|$)/, 400, (index) => ({
    id: `c-${index}`,
    story: story(index),
    last_message: { id: `m-${index}`, role: 'user', excerpt: '从前说过的话' },
    version: 1,
    updated_at: new Date(day - index * 60_000).toISOString(),
  }));
  await person.open('/conversations');
  await appIsUp(page);
  await findsItsPlaceAfterReload(person, asked, 320);
  // even if the list is slow
  const before = await place(page);
  const answer = await holdBack(page, /\/api\/v1\/conversations(\?|$)/);
  await page.clock.install();
  await page.reload({ waitUntil: 'domcontentloaded' });
  await expect(page.locator('main:visible [data-skeleton]')).toBeAttached();
  await page.clock.fastForward(9000);
  answer();
  await expect.poll(() => place(page)).toEqual(before);
});
