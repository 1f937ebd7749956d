import type { Page } from '@playwright/test';
import { appIsUp, expect, holdBack, test } from '../person.ts';
import { seededAccount } from '../seeds.ts';

/** Records the shape and position of every visible skeleton. */
const watchSkeletons = (page: Page) =>
  page.addInitScript(() => {
    const seen = new Set<string>();
    Reflect.set(globalThis, '__skeletons', seen);
    const look = () => {
      for (const skeleton of document.querySelectorAll<HTMLElement>(
        '[role="status"]:has(> [class*="ink"], [class*="ink"])',
      )) {
        if (skeleton.getClientRects().length === 0) continue;
        const { left, top, width } = (skeleton.querySelector('[class*="ink"]') ?? skeleton).getBoundingClientRect();
        seen.add(`${skeleton.dataset.skeleton} ${[left, top, width].map((value) => Math.round(value)).join(',')}`);
      }
    };
    const begin = () => new MutationObserver(look).observe(document, { childList: true, subtree: true });
    begin();
  });
const seenSkeletons = (page: Page) => page.evaluate(() => [...(Reflect.get(globalThis, '__skeletons') as Set<string>)]);

const firstRow = (page: Page) => page.getByRole('listitem').first();

test('聊过 opens by one skeleton, in the shape of its rows', async ({ person, page }) => {
  await watchSkeletons(page);
  await person.returns(await seededAccount({ story: 'nie-xiaoqian', messages: 2 }));
  const releaseChunk = await holdBack(page, /\/builds\/chat\/.*conversations.*\.(js|css)$/);
  const releaseAnswer = await holdBack(page, '**/api/v1/conversations*');
  await person.open('/my');
  await appIsUp(page);
  await page.getByRole('navigation').getByRole('link', { name: '聊过' }).click();
  await expect(page.locator('main:visible [data-skeleton]')).toBeVisible();
  releaseChunk();
  await expect(page.getByRole('heading', { name: '聊过' })).toBeVisible();
  await expect(page.locator('main:visible [data-skeleton]')).toBeVisible();
  const seen = (await seenSkeletons(page)).filter((each) => !each.startsWith('card'));
  releaseAnswer();
  await expect(firstRow(page)).toBeVisible();
  const cover = await firstRow(page).getByRole('link').locator('> span').first().boundingBox();
  const { x = 0, y = 0, width = 0 } = cover ?? {};
  expect(seen).toEqual([`coverRow ${[x, y, width].map((value) => Math.round(value)).join(',')}`]);
});

test('聊过 invites a guest before the app, and requests a member’s list next to the app’s script', async ({
  person,
  page,
}) => {
  const release = await holdBack(page, /\/builds\/host\/.*\/host\.\w+\.js/);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const invitation = page.getByRole('button', { name: '登录' });
  await person.open('/conversations');
  await expect(invitation).toBeVisible();
  expect(asked.filter((path) => /\/conversations$|conversations\.member/.test(path))).toEqual(['/conversations']);
  await person.returns(await seededAccount({ story: 'nie-xiaoqian', messages: 2 }));
  const list = page.waitForRequest('**/api/v1/conversations');
  const part = page.waitForRequest(/\/conversations\.member\.\w+\.js$/);
  await person.open('/conversations');
  await Promise.all([list, part]);
  await expect(page.locator('main:visible [data-skeleton]')).toBeVisible();
  await expect(invitation).toBeHidden();
  release();
  await expect(firstRow(page)).toBeVisible();
});

test('a tap on 登录 before the app is there opens the popup once it is', async ({ person, page }) => {
  const release = await holdBack(page, /\/builds\/host\/.*\/host\.\w+\.js/);
  await person.open('/conversations');
  await page.getByRole('button', { name: '登录' }).tap();
  release();
  await expect(person.popup()).toBeVisible();
});

test('a story that was begun does not lead the shelf that the server draws', async ({ person, page }) => {
  await person.returns(await seededAccount({ story: 'nie-xiaoqian', messages: 2 }));
  await person.open('/explore');
  const kept = () => page.evaluate(() => JSON.stringify({ ...localStorage }));
  await expect.poll(kept).toMatch(/liaozhai-recent.*nie-xiaoqian/);
  const release = await holdBack(page, /\/builds\/host\/.*\/host\.\w+\.js/);
  await page.reload({ waitUntil: 'domcontentloaded' });
  const cards = page.locator('[data-first]').getByRole('list', { name: '故事' }).getByRole('link');
  await expect(cards.first()).toContainText('开卷第一则');
  await expect(cards.first()).not.toContainText('聂小倩');
  release();
});

test('a tap on 刷新 before the app is there fetches the shelf once it is', async ({ person, page }) => {
  const release = await holdBack(page, /\/builds\/host\/.*\/host\.\w+\.js/);
  await person.open('/explore');
  await page.getByRole('button', { name: '刷新' }).tap();
  const refreshed = page.waitForRequest('**/api/v1/stories');
  release();
  await refreshed;
  await expect(page).toHaveURL('/explore');
});

test('a tap that begins on the server’s page and ends on the app’s does what it was for', async ({ person, page }) => {
  const pressed = [
    ['/explore', page.getByRole('navigation').getByRole('link', { name: '我的' }), /\/my$/],
    ['/explore', page.getByRole('link', { name: /聂小倩/ }).first(), /\/story\/nie-xiaoqian$/],
    ['/conversations', page.getByRole('button', { name: '登录' }), /\/conversations$/],
  ] as const;
  for (const [address, control, destination] of pressed) {
    const release = await holdBack(page, /\/builds\/host\/.*\/host\.\w+\.js/);
    await person.open(address);
    await control.hover();
    await page.mouse.down();
    release();
    await appIsUp(page);
    await page.mouse.up();
    await expect(page).toHaveURL(destination);
  }
  await expect(person.popup()).toBeVisible();
});

test('a truncated page is requested again, and opens', async ({ person, page }) => {
  let isCut = true;
  await page.route('**/explore', async (route) => {
    const answer = await route.fetch();
    const html = await answer.text();
    const body = isCut ? html.slice(0, html.indexOf('id="liaozhai-set"') + 200) : html;
    isCut = false;
    await route.fulfill({ response: answer, body });
  });
  await person.open('/explore');
  await appIsUp(page);
  await page.getByRole('navigation').getByRole('link', { name: '我的' }).click();
  await expect(page.getByRole('button', { name: '注册账号' })).toBeVisible();
});

test('half of a page already has the theme that the reader chose', async ({ person, page }) => {
  await person.open('/my');
  await page.getByRole('radio', { name: '深色' }).check({ force: true });
  await page.route('**/explore', async (route) => {
    const answer = await route.fetch();
    const html = await answer.text();
    await route.fulfill({ response: answer, body: html.slice(0, html.indexOf('</a>', html.indexOf('<main'))) });
  });
  await person.open('/explore');
  await expect(page.locator('body')).toHaveCSS('background-color', 'rgb(20, 18, 15)');
});

test('发现, opened from another tab, holds the covers their places', async ({ person, page }) => {
  await watchSkeletons(page);
  const releaseChunk = await holdBack(page, /\/builds\/stories\/.*explore.*\.(js|css)$/);
  const releaseAnswer = await holdBack(page, '**/api/v1/stories*');
  await person.open('/conversations');
  await appIsUp(page);
  await page.getByRole('navigation').getByRole('link', { name: '发现' }).click();
  await expect(page.locator('main:visible [data-skeleton]')).toBeVisible();
  releaseChunk();
  await expect(page.getByRole('heading', { name: '聊斋' })).toBeVisible();
  await expect(page.locator('main:visible [data-skeleton]')).toBeVisible();
  const seen = (await seenSkeletons(page)).filter((each) => !each.startsWith('coverRow'));
  releaseAnswer();
  const cover = await page.locator('main:visible li a > div > span').first().boundingBox();
  const { x = 0, y = 0, width = 0 } = cover ?? {};
  expect(seen).toEqual([`shelf ${[x, y, width].map((value) => Math.round(value)).join(',')}`]);
});

test('a link to a story shows its cover and title before any script, and the app moves nothing of them', async ({
  person,
  page,
}) => {
  const release = await holdBack(page, '**/builds/**/*.js');
  await expect
    .poll(async () => {
      await person.open('/story/nie-xiaoqian');
      return page.locator('main img').count();
    })
    .toBeGreaterThan(0);
  const places = () =>
    page
      .locator('main article header')
      .locator('img, p')
      .evaluateAll((elements) =>
        elements.map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return [x, y, width, height].map(Math.round).join(',');
        }),
      );
  await expect(page.getByRole('heading', { name: '聂小倩' })).toBeAttached();
  const before = await places();
  expect(before).toHaveLength(4);
  release();
  await appIsUp(page);
  await expect(page.getByRole('link', { name: '开始聊天' })).toBeVisible();
  expect(await places()).toEqual(before);
});

test('a chat opened by its link has one skeleton till its log is there', async ({ person, page }) => {
  await watchSkeletons(page);
  const releaseChunk = await holdBack(page, /\/builds\/chat\/.*story\.chat.*\.(js|css)$/);
  const releaseStory = await holdBack(page, '**/api/v1/stories/nie-xiaoqian');
  await person.open('/story/nie-xiaoqian?chat=1');
  await expect(page.locator('[data-skeleton="text"]')).toBeVisible();
  releaseChunk();
  await expect(page.getByText('正在加载对话')).toBeAttached();
  releaseStory();
  await expect(person.log()).toBeVisible();
  const shapes = new Set((await seenSkeletons(page)).filter((each) => each.startsWith('text')));
  expect(shapes.size).toBe(1);
});

test("a cover's place has the colour that the server tells, until the picture is there", async ({ person, page }) => {
  const release = await holdBack(page, '**/api/media/covers/**');
  await person.open('/explore');
  await appIsUp(page);
  const color = (await person.read<{ data: { cover_color: string }[] }>('/api/v1/stories')).data[0]?.cover_color ?? '';
  const [red, green, blue] = [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16));
  await expect(page.locator('li a > div > span').first()).toHaveCSS(
    'background-color',
    `rgb(${red}, ${green}, ${blue})`,
  );
  release();
});

test('a link to a story carries a bitmap of its own cover, for messengers', async ({ page, request }) => {
  const imageOf = async (story: string) => {
    await page.goto(`/story/${story}`, { waitUntil: 'domcontentloaded' });
    return page.locator('meta[property="og:image"]').getAttribute('content');
  };
  await expect.poll(() => imageOf('nie-xiaoqian')).toContain('/api/media/share/nie-xiaoqian.png');
  const address = (await imageOf('nie-xiaoqian')) ?? '';
  const answer = await request.get(address);
  expect([answer.status(), answer.headers()['content-type']]).toEqual([200, 'image/png']);
});
