import type { Locator } from '@playwright/test';
import { appIsUp, expect, test } from '../person.ts';
import { seededAccount } from '../seeds.ts';

const story = 'nie-xiaoqian';

test('on paper every story of 发现 is drawn', async ({ person, page }) => {
  await person.open('/explore');
  const cards = page.locator('a[href^="/story/"]');
  await expect(cards.last()).toBeAttached();
  await page.emulateMedia({ media: 'print' });
  const areDrawn = () =>
    cards.evaluateAll((links) => links.every((link) => link.checkVisibility({ contentVisibilityAuto: true })));
  await expect.poll(areDrawn).toBe(true);
});

test('on paper the whole loaded conversation stands under its title, and nothing that can be pressed', async ({
  person,
  page,
}) => {
  await person.returns(await seededAccount({ story, messages: 40 }));
  await person.opensChat(story);
  await expect(person.log().getByRole('article').last()).toBeVisible();
  const onScreen = await page.getByRole('article').count();
  // Firefox prints the page as it is right after `beforeprint`
  const isDrawn = await page.evaluate(() => {
    const articles = () => document.querySelectorAll('article').length;
    const before = articles();
    dispatchEvent(new Event('beforeprint'));
    const isMore = articles() > before;
    dispatchEvent(new Event('afterprint'));
    return isMore && articles() === before;
  });
  expect(isDrawn).toBe(true);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await expect.poll(() => page.getByRole('article').count()).toBeGreaterThan(onScreen);
  await expect(page.getByRole('button')).toHaveText(['聂小倩']);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  expect(height).toBeGreaterThan(3000);
  await page.emulateMedia({ media: 'screen' });
  await expect(person.log()).toHaveCount(1);
});

test('on paper no bar covers the text', async ({ person, page }) => {
  await person.returns(await seededAccount({}));
  for (const path of [`/story/${story}`, '/my/profile', '/explore']) {
    await person.open(path);
    await appIsUp(page);
    const bars = page.locator('main [data-foot]:visible, nav:visible');
    await expect(bars).not.toHaveCount(0);
    await page.emulateMedia({ media: 'print' });
    await expect(bars).toHaveCount(0);
    await page.emulateMedia({ media: 'screen' });
  }
});

test.describe('with a mouse', () => {
  test.use({ isMobile: false, hasTouch: false, viewport: { width: 1280, height: 800 } });

  test('a selection across messages copies their words, and no buttons', async ({ person, page }) => {
    await person.returns(await seededAccount({ story, messages: 6 }));
    await person.opensChat(story);
    await expect(person.log().getByRole('article').last()).toBeVisible();
    const copied = await page.evaluate(() => {
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      getSelection()?.selectAllChildren(document.querySelector('[role="log"]') ?? document.body);
      return String(getSelection());
    });
    expect(copied.length).toBeGreaterThan(50);
    expect(copied).not.toMatch(/⋯|换一种说法/);
  });
});

for (const [width, height] of [
  [667, 185],
  [844, 175],
  [568, 140],
] as const)
  test(`in ${width}×${height}, above the keyboard of a lying phone, field, 发送 and the last words are in sight`, async ({
    person,
    page,
  }) => {
    await person.returns(await seededAccount({ story, messages: 6 }));
    await person.opensChat(story);
    await page.setViewportSize({ width, height });
    const field = page.getByRole('textbox', { name: '说点什么' });
    await field.fill('一\n二\n三\n四');
    for (const part of [field, page.getByRole('button', { name: '发送', exact: true })])
      await expect(part).toBeInViewport({ ratio: 1 });
    const logHeight = async () => (await person.log().boundingBox())?.height;
    await expect.poll(logHeight).toBeGreaterThan(75);
    await expect(person.log().getByRole('article').last()).toBeInViewport();
    await field.blur();
    await expect(page.getByRole('button', { name: '返回' })).toBeInViewport();
  });

test('above the keyboard of a lying phone 灵感 and an edited line leave the story its room', async ({
  person,
  page,
}) => {
  await person.returns(await seededAccount({ story, messages: 6 }));
  await person.opensChat(story);
  const hasRoom = async () => {
    for (const [width, height] of [
      [667, 185],
      [844, 175],
    ] as const) {
      await page.setViewportSize({ width, height });
      await expect.poll(async () => (await person.log().boundingBox())?.height).toBeGreaterThan(60);
      await expect(page.getByRole('textbox').last()).toBeInViewport({ ratio: 1 });
    }
    await page.setViewportSize({ width: 390, height: 844 });
  };
  await page.getByRole('button', { name: /^灵感/ }).click();
  await expect(page.getByRole('button', { name: '收起灵感' })).toBeVisible();
  await hasRoom();
  await page
    .getByRole('button', { name: /^我的消息，更多操作/ })
    .last()
    .click();
  await page.getByRole('button', { name: '编辑' }).click();
  await expect(page.getByRole('button', { name: '取消编辑' })).toBeVisible();
  await hasRoom();
});

for (const [width, height] of [
  [667, 185],
  [568, 150],
  [390, 420],
  [320, 330],
] as const)
  test(`in ${width}×${height}, above a phone’s keyboard, no field stands below a bar, also once something is typed`, async ({
    person,
    page,
  }) => {
    await person.returns(await seededAccount({ story, messages: 6 }));
    await page.setViewportSize({ width, height });
    for (const path of ['/my/profile', '/my/support', '/my/minor', '/my/security']) {
      await person.open(path);
      if (path === '/my/security') await page.getByRole('button', { name: '绑定邮箱' }).click();
      const fields = page.locator('main :is(input:not([type="radio"]), textarea):visible');
      await expect(fields.first()).toBeVisible();
      // bottom to top, as a reader returns to a missed field
      for (const field of (await fields.all()).reverse()) {
        await field.press('1');
        const isClear = () =>
          field.evaluate((element) => {
            const { left, top, bottom, width } = element.getBoundingClientRect();
            const edges = [top + 4, bottom - 4];
            return edges.every((edge) => document.elementFromPoint(left + width / 2, edge) === element);
          });
        await expect.poll(isClear).toBe(true);
      }
    }
  });

test('where an extension wraps paragraphs and messages the chat goes on, the words in its field too', async ({
  person,
  page,
  context,
}) => {
  await context.addInitScript(() => {
    const wrap = () => {
      for (const element of document.querySelectorAll('p, article, section, li')) {
        if (element.parentElement?.matches('[data-wrapper]')) continue;
        const wrapper = document.createElement('div');
        wrapper.dataset.wrapper = '';
        element.replaceWith(wrapper);
        wrapper.append(element);
      }
    };
    new MutationObserver(wrap).observe(document, { childList: true, subtree: true });
  });
  await person.returns(await seededAccount({ story, messages: 6 }));
  await person.opensChat(story);
  const field = page.getByRole('textbox', { name: '说点什么' });
  for (const line of ['姑娘为何深夜在此？', '*拱手* 我姓宁']) {
    await person.says(line);
    await field.pressSequentially('写到一半');
    await person.replied();
    await expect(field).toBeFocused();
    await expect(field).toHaveValue('写到一半');
    await expect(person.log().getByText(line.slice(-3))).toBeVisible();
  }
  expect(person.trouble.errors).toEqual([]);
});

test('where an extension has replaced a whole screen the page offers to load it again, and is not empty', async ({
  page,
}) => {
  await page.goto('/my');
  await page.getByRole('link', { name: '用户协议' }).click();
  await expect(page.getByRole('heading', { name: '用户协议' })).toBeVisible();
  await page.evaluate(() => {
    for (const screen of document.querySelectorAll('main')) screen.replaceWith(screen.cloneNode(true));
  });
  await page.goBack();
  await page.getByRole('button', { name: '刷新' }).click();
  await expect(page.getByRole('link', { name: '用户协议' })).toBeVisible();
});

test('going back closes 查找 before it leaves the chat', async ({ person, page }) => {
  await person.returns(await seededAccount({ story, messages: 6 }));
  await person.opensChat(story);
  await page.getByRole('button', { name: '这段对话的更多操作' }).click();
  await page.getByRole('button', { name: '查找' }).click();
  const field = page.getByRole('searchbox', { name: '找说过的话' });
  await expect(field).toBeFocused();
  await page.goBack();
  await expect(field).toBeHidden();
  await expect(person.log()).toBeVisible();
});

test('with forced colours the chosen of several looks unlike the others, and what is new has its dot', async ({
  person,
  page,
}) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await person.returns(await seededAccount({ story, messages: 2 }));
  const looks = (of: Locator) =>
    of.evaluateAll((all) =>
      all.map((each) => {
        const { backgroundColor, outlineStyle } = getComputedStyle(each);
        return `${backgroundColor} ${outlineStyle}`;
      }),
    );
  for (const [path, group, faces] of [
    ['/my', '主题', 'label > span'],
    ['/my/wallet/recharge', '选择点数', 'label'],
  ] as const) {
    await person.open(path);
    const choices = page.locator('fieldset').filter({ hasText: group }).locator(faces);
    await expect(choices.nth(2)).toBeVisible();
    expect(new Set(await looks(choices)).size, path).toBe(2);
  }
  await page.route('**/api/v1/conversations', async (route) => {
    const response = await route.fetch();
    const { data, ...rest } = await response.json();
    await route.fulfill({ response, json: { ...rest, data: data.map((row: object) => ({ ...row, unread: true })) } });
  });
  await person.open('/conversations');
  const dot = page
    .getByRole('link', { name: /聂小倩/ })
    .getByText('有新回复')
    .locator('..');
  expect(await differs(dot, { visibility: 'hidden' })).toBe(true);
});

test('with forced colours what lies over a page has edges, and the scenes that were reached are filled', async ({
  person,
  page,
}) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await person.returns(await seededAccount({ story, messages: 2 }));
  await page.route(`**/api/v1/stories/${story}`, async (route) => {
    const response = await route.fetch();
    const { data } = await response.json();
    await route.fulfill({ response, json: { data: { ...data, progress: { scene: 2, scenes: 3 } } } });
  });
  await person.opensChat(story);
  const withoutEdge = { outline: 'none' };
  const own = person.log().getByRole('article').first();
  expect(await differs(own.locator('p').first().locator('..'), withoutEdge)).toBe(true);
  await page.getByRole('button', { name: '聂小倩，看看这个故事' }).click();
  const sheet = page.getByRole('dialog', { name: '聂小倩' });
  const scenes = sheet.locator('[aria-hidden] > span');
  expect(await differs(scenes.nth(2), { visibility: 'hidden' })).toBe(true);
  expect(await differs(scenes.nth(0), { border: 'none' })).toBe(true);
  expect(await differs(sheet.locator('> div').first(), withoutEdge)).toBe(true);
  await page.keyboard.press('Escape');
  await own.getByRole('button', { name: /更多操作/ }).click();
  await page.getByRole('button', { name: '复制' }).click();
  const toast = page.getByRole('region', { name: '提示' }).locator('> div').first();
  expect(await differs(toast, withoutEdge)).toBe(true);
});

/** Whether an element looks different without some of its style. */
async function differs(element: Locator, without: Record<string, string>): Promise<boolean> {
  await expect(element).toBeInViewport({ ratio: 1 });
  const picture = () => element.page().screenshot({ animations: 'disabled' });
  const before = await picture();
  await element.evaluate((target, style) => Object.assign((target as HTMLElement).style, style), without);
  return !before.equals(await picture());
}
