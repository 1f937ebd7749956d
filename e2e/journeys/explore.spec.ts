import type { Locator, Page } from '@playwright/test';
import { appIsUp, expect, test } from '../person.ts';
import { seededAccount } from '../seeds.ts';

const cards = (page: Page) => page.locator('main:visible li a[href^="/story/"]').filter({ visible: true });
const field = (page: Page) => page.getByRole('searchbox', { name: '搜索故事' });

/** Records layout shifts that no input caused, from the first paint on. */
function recordShifts() {
  const shifts: number[] = [];
  Object.assign(globalThis, { shifts });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { hadRecentInput, value } = entry as PerformanceEntry & { hadRecentInput: boolean; value: number };
      if (!hadRecentInput) shifts.push(value);
    }
  }).observe({ type: 'layout-shift', buffered: true });
}

const shifts = (page: Page) => page.evaluate(() => (globalThis as unknown as { shifts: number[] }).shifts);

test('发现 is searched by words and by tag, and a reload and the way back find the search', async ({
  person,
  page,
}) => {
  await page.addInitScript(recordShifts);
  // the page itself contains the server's capabilities
  await page.route('**/api/v1/capabilities', () => undefined);
  await person.open('/explore');
  await page.getByRole('button', { name: '搜索故事' }).tap();
  expect(await shifts(page)).toEqual([]);
  await field(page).fill('画皮');
  await expect(page).toHaveURL(`/explore?q=${encodeURIComponent('画皮')}`);
  await expect(cards(page).first()).toContainText('画皮');
  await cards(page).first().tap();
  await page.getByRole('link', { name: '标签「惊悚」的故事' }).tap();
  await expect(page).toHaveURL(`/explore?tag=${encodeURIComponent('惊悚')}`);
  await expect(page.getByRole('button', { name: '惊悚', exact: true })).toHaveAttribute('aria-pressed', 'true');
  await expect(cards(page).filter({ hasText: '惊悚' })).not.toHaveCount(0);
  await page.goBack();
  await expect(page).toHaveURL('/story/hua-pi');
  await page.goBack();
  await expect(field(page)).toHaveValue('画皮');
  await page.reload({ waitUntil: 'domcontentloaded' });
  await expect(field(page)).toHaveValue('画皮');
  await expect(cards(page).first()).toContainText('画皮');
  await page.getByRole('button', { name: '取消' }).tap();
  await expect(page.getByRole('button', { name: '刷新' })).toBeVisible();
  await expect(page).toHaveURL('/explore');
  // a server-rendered shelf would have to be replaced
  const html = await (await page.request.get('/explore?tag=x')).text();
  expect(html).not.toContain('id="liaozhai-first"');
});

test('a search whose file is lost can be given up', async ({ person, page }) => {
  await page.route(/\/search\.[^/]+\.js/, (route) => route.abort());
  await person.open('/explore');
  await appIsUp(page);
  await page.getByRole('button', { name: '搜索故事' }).tap();
  await expect(page.getByText('搜索暂时打不开')).toBeVisible();
  await page.getByRole('button', { name: '取消' }).tap();
  await expect(page.getByRole('button', { name: '刷新' })).toBeVisible();
  await expect(page).toHaveURL('/explore');
});

test('继续读 leads on from 发现 into the last chat, and moves nothing when it is drawn', async ({ person, page }) => {
  await person.returns(await seededAccount({ story: 'nie-xiaoqian', messages: 2 }));
  await page.addInitScript(recordShifts);
  await person.open('/explore');
  const isKept = () => page.evaluate(() => Object.keys(localStorage).some((key) => key.startsWith('liaozhai-recent:')));
  await expect.poll(isKept).toBe(true);
  await page.reload({ waitUntil: 'domcontentloaded' });
  await appIsUp(page);
  const row = page.getByRole('region', { name: '继续读' });
  await expect(row.getByRole('link')).toHaveCount(1);
  expect(await shifts(page)).toEqual([]);
  // the story being read no longer leads the shelf, not even in the server-rendered page
  const [first, second] = await page.getByRole('list', { name: '故事' }).getByRole('link').all();
  await expect(first as Locator).not.toContainText('聂小倩');
  await expect(second as Locator).toContainText('已聊');
  await row.getByRole('link', { name: /聂小倩/ }).tap();
  await expect(page).toHaveURL('/story/nie-xiaoqian?chat=1');
});

test('a title or a name without an end leaves its screen as it was', async ({ person, page }) => {
  await person.returns(await seededAccount({ story: 'lu-pan', messages: 2 }));
  const long = 'W'.repeat(300);
  // the HTML of the page contains names of remotes, too
  const lengthened = (text: string) =>
    text
      .replace(/"title":"[^"]*","cover_url"/g, `"title":"${long}","cover_url"`)
      .replace(/"name":"读书人"/g, `"name":"${long}"`)
      .replace(/"(method|username|invite_code|label)":"[^"]*"/g, `"$1":"${long}"`)
      .replace(/"tags":\["[^"]*"/g, `"tags":["${long}"`);
  await page.route(/\/explore$|\/api\/v1\/(stories|conversations|orders|user)/, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: lengthened(await answer.text()) });
  });
  await page.setViewportSize({ width: 320, height: 568 });
  for (const path of ['/explore', '/story/lu-pan', '/conversations', '/my', '/my/wallet/recharge']) {
    await person.open(path);
    await appIsUp(page);
    await page.waitForLoadState('networkidle');
    const words = page.locator('main:visible').getByText(/WWWW/).filter({ visible: true });
    await expect(words.first()).toBeVisible();
    const heights = await words.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
    expect.soft(Math.max(...heights), path).toBeLessThan(160);
    expect.soft(await page.evaluate(() => document.documentElement.scrollWidth), path).toBe(320);
  }
});
