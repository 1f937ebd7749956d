import type { Page } from '@playwright/test';
import { appIsUp, expect, holdBack, test, toldBy } from '../person.ts';

/** A device with a keyboard and a mouse, without touch, at the width of a phone. */
test.use({ hasTouch: false, isMobile: false });

/** Accessible name of the focused element, approximately. */
const focusedName = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement;
    return element?.getAttribute('aria-label') ?? element?.textContent?.trim() ?? '';
  });

/** Presses Tab until the named element has the focus. Every element on the way must be visible and have a focus ring. */
async function tabTo(page: Page, name: string | RegExp, most = 30) {
  const wanted = typeof name === 'string' ? (text: string) => text === name : (text: string) => name.test(text);
  for (let press = 0; press < most; press += 1) {
    await page.keyboard.press('Tab');
    await expectRing(page);
    if (wanted(await focusedName(page))) return;
  }
  throw new Error(`${most} presses of Tab did not reach ${name}; the focus is on "${await focusedName(page)}"`);
}

/** Expects a focus ring on the element, on the box around it (a field) or on the next one (a radio's label). */
async function expectRing(page: Page) {
  const state = await page.evaluate(() => {
    const element = document.activeElement;
    if (!element || element === document.body) return 'nothing is focused';
    const ringed = [element, element.parentElement, element.nextElementSibling].some((box) => {
      const style = box && getComputedStyle(box);
      return style && style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) >= 1;
    });
    return ringed ? 'ringed' : `no ring: ${element.outerHTML.slice(0, 160)}`;
  });
  // after its last element the page passes the focus to the browser
  if (state !== 'nothing is focused') expect(state).toBe('ringed');
}

test('tabs by keyboard: the bar leads to each, and the focus goes along', async ({ person, page }) => {
  await person.open('/explore');
  await appIsUp(page);
  await expect(page.locator('a[href^="/story/"]').first()).toBeVisible();
  await tabTo(page, '聊过');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL('/conversations');
  await tabTo(page, '我的');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL('/my');
  await expect(page.getByRole('button', { name: '注册账号' })).toBeVisible();
  await tabTo(page, '注册账号');
});

test('the focus stays where it is when the app takes the place of the server’s page', async ({ person, page }) => {
  const release = await holdBack(page, /\/builds\/host\/.*\/host\.\w+\.js/);
  await person.open('/explore');
  await tabTo(page, /聂小倩/);
  release();
  await appIsUp(page);
  await expect(page.getByRole('link', { name: /聂小倩/ })).toBeFocused();
});

test('accessibility: a reader registers, talks and leaves by keyboard alone', async ({ person, page }) => {
  await person.open('/explore');
  await appIsUp(page);
  await expect(page.locator('a[href^="/story/"]').first()).toBeVisible();
  await tabTo(page, /聂小倩/);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL('/story/nie-xiaoqian');
  await expect(page.getByRole('link', { name: '开始聊天' })).toBeVisible();
  await tabTo(page, '开始聊天');
  await page.keyboard.press('Enter');
  await expect(person.log()).toBeVisible();

  await tabTo(page, '说点什么');
  await page.keyboard.type('门外是谁？');
  await page.keyboard.press('Enter');
  await expect(person.popup()).toBeVisible();
  await tabTo(page, '注册（请截图保存）');
  await page.keyboard.press('Enter');
  const byHand = page.getByRole('button', { name: '我已经复制' });
  const isCopied = async () => (await toldBy(page)).includes('账号密码已复制到剪贴板');
  await expect.poll(async () => (await isCopied()) || byHand.isVisible()).toBe(true);
  if (await byHand.isVisible()) {
    await tabTo(page, '我已经复制');
    await page.keyboard.press('Enter');
  }
  await expect(person.popup()).toBeHidden();
  await person.replied();

  await tabTo(page, /更多操作/);
  const opener = await focusedName(page);
  await page.keyboard.press('Enter');
  const menu = page.getByRole('dialog', { name: /的消息$/ });
  await expect(menu).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(menu).toBeHidden();
  await expect.poll(() => focusedName(page), 'the focus returns to what opened the sheet').toBe(opener);
});

test('the focus stays in an open sheet, goes back when Escape closes it', async ({ person, page }) => {
  await person.open('/my');
  await expect(page.getByRole('button', { name: '已有账号，登录' })).toBeVisible();
  await tabTo(page, '已有账号，登录');
  await page.keyboard.press('Enter');
  const popup = person.popup();
  await expect(popup).toBeVisible();
  for (let press = 0; press < 12; press += 1) {
    await page.keyboard.press('Tab');
    const outside = await page.evaluate(() => {
      const element = document.activeElement;
      return element !== document.body && !element?.closest('dialog[open]');
    });
    expect(outside, 'the page behind the sheet got the focus').toBe(false);
  }
  await page.keyboard.press('Escape');
  await expect(popup).toBeHidden();
  await expect(page.getByRole('button', { name: '已有账号，登录' })).toBeFocused();
});

test('the menu of a list row goes by arrows and Escape', async ({ person, page }) => {
  await person.joins();
  await person.openFirstStory();
  await person.openChat();
  await person.says('灯还亮着吗？');
  await person.replied();
  await person.open('/conversations');
  const more = page.getByRole('button', { name: /的更多操作/ }).first();
  await expect(more).toBeVisible();
  await tabTo(page, /的更多操作/);
  await page.keyboard.press('Enter');
  const first = page.getByRole('menuitem', { name: '置顶' });
  const removal = page.getByRole('menuitem', { name: '删除' });
  await expect(first).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(removal).toBeHidden();
  await expect(more).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(first).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(removal).toBeFocused();
  await page.keyboard.press('Enter');
  await person.isTold(/已删除《/);
});

/** Elements with text that is cut off or extends past the window's edge. */
const cutOff = (page: Page) =>
  page.evaluate(() => {
    const shown = (element: Element) =>
      element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
      element.getBoundingClientRect().width > 2;
    const hasText = (element: Element) =>
      [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim());
    // a row of filters may scroll sideways, a page may not
    const inRow = (element: Element): boolean => {
      const box = element.parentElement;
      if (!box) return false;
      const isRow = /auto|scroll/.test(getComputedStyle(box).overflowX) && box.scrollHeight <= box.clientHeight + 1;
      return isRow || inRow(box);
    };
    const top = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
    return [...top.querySelectorAll('*')]
      .filter((element) => hasText(element) && shown(element) && !inRow(element))
      .filter((element) => {
        const { left, right } = element.getBoundingClientRect();
        const style = getComputedStyle(element);
        const clips = style.overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1;
        const shortened = style.textOverflow === 'ellipsis' || style.webkitLineClamp !== 'none';
        return left < -1 || right > innerWidth + 1 || (clips && !shortened);
      })
      .map((element) => element.outerHTML.slice(0, 140));
  });

function nothingIsLost() {
  for (const [path, sign] of [
    ['/explore', '聂小倩'],
    ['/story/nie-xiaoqian', '开始聊天'],
    ['/story/nie-xiaoqian?chat=1', '金华'],
    ['/conversations', '登录'],
    ['/my', '注册账号'],
  ] as const) {
    test(`nothing is lost on ${path}`, async ({ person, page }) => {
      await person.open(path);
      await appIsUp(page);
      await expect(page.getByText(sign).filter({ visible: true }).first()).toBeVisible();
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      expect(await cutOff(page)).toEqual([]);
    });
  }
}

test.describe('accessibility: a zoom of 200 %', () => {
  test.use({ viewport: { width: 195, height: 422 } });
  nothingIsLost();

  test('the words of a button on the member’s page stand side by side', async ({ person, page }) => {
    await person.joins();
    const balance = page.getByRole('region', { name: '余额' });
    for (const name of ['消费明细', '充值']) {
      const box = await balance.getByRole('link', { name }).boundingBox();
      expect(box?.width, name).toBeGreaterThan(box?.height ?? 0);
    }
  });
});

test.describe('accessibility: twice the text size', () => {
  test.beforeEach(async ({ page }) => {
    // same effect as the browser's setting, because every size is in rem
    await page.addInitScript(() => {
      document.addEventListener('DOMContentLoaded', () =>
        document.documentElement.style.setProperty('--font-scale', '2'),
      );
    });
  });

  nothingIsLost();

  test('the popup can be filled in and sent', async ({ person, page }) => {
    await person.open('/my');
    await page.getByRole('button', { name: '注册账号' }).click();
    await expect(person.popup()).toBeVisible();
    expect(await cutOff(page)).toEqual([]);
    await person.register();
    await expect(page.getByRole('button', { name: /^签到/ })).toBeVisible();
    expect(await cutOff(page)).toEqual([]);
    for (const below of ['/my/profile', '/my/support', '/my/wallet/transactions', '/my/wallet/recharge']) {
      await person.open(below);
      await expect(page.getByRole('heading', { level: 1 }).filter({ visible: true })).toBeVisible();
      expect(await cutOff(page), below).toEqual([]);
    }
  });
});
