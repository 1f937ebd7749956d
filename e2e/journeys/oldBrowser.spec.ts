import { createHash } from 'node:crypto';
import type { Page } from '@playwright/test';
import { expect, test } from '../person.ts';
import { grownOld } from '../scenes/faultScenes.ts';

const notice = (page: Page) => page.getByRole('alert').filter({ has: page.locator('.notice-title') });
const needsNewer = (page: Page) => notice(page).filter({ hasText: '换个新一点的浏览器' });
const isStarted = (page: Page) => page.evaluate(() => '__liaozhai' in globalThis);

/** Browsers without one feature that the page requires. */
const lacking: Record<string, () => void> = {
  'AbortSignal.timeout, as before Chrome 103': () => void Reflect.deleteProperty(AbortSignal, 'timeout'),
  'AbortSignal, as before Safari 11.1': () => void Reflect.deleteProperty(window, 'AbortSignal'),
  'replaceSync, as before Safari 16.4': () => void Reflect.deleteProperty(CSSStyleSheet.prototype, 'replaceSync'),
  'calc() with infinity, as before Firefox 114': () => {
    const { supports } = CSS;
    CSS.supports = (property: string, value?: string) =>
      value === undefined ? supports(property) : supports(property, value) && !value.includes('infinity');
  },
};

test.describe('below the floor', () => {
  for (const [name, lose] of Object.entries(lacking))
    test(`without ${name} the page says what is needed and loads no app`, async ({ page }) => {
      await page.addInitScript(lose);
      await page.goto('/conversations');
      await expect(needsNewer(page)).toContainText(/Chrome（Edge）103、Safari 16\.4、Firefox 115/);
      expect(await isStarted(page)).toBe(false);
    });

  test('the shelf stays readable below the notice, its links lead on and no dead button is left', async ({ page }) => {
    await grownOld(page);
    await page.goto('/explore');
    await expect(needsNewer(page)).toBeVisible();
    expect(await page.getByRole('button').allTextContents()).toEqual(['复制链接']);
    await page.locator('a[href^="/story/"]').first().click();
    await expect(page).toHaveURL(/\/story\//);
    await expect(needsNewer(page)).toBeVisible();
  });

  for (const path of ['/story/nie-xiaoqian', '/story/nie-xiaoqian?chat=1'])
    test(`a shared link to ${path} tells what it is about`, async ({ page }) => {
      await grownOld(page);
      await page.goto(path);
      await expect(page.getByRole('heading', { name: '聂小倩' })).toBeVisible();
      await expect(page.getByText('金华城北的荒寺里')).toBeVisible();
      await expect(needsNewer(page)).toBeVisible();
    });

  test('an address that nobody knows has the notice as well', async ({ page }) => {
    await grownOld(page);
    await page.goto('/no/such/page');
    await expect(needsNewer(page)).toBeVisible();
  });

  test('the link is copied, or stands there to be copied by hand', async ({ page }) => {
    await grownOld(page);
    await page.addInitScript(() => {
      document.execCommand = () => false;
    });
    await page.goto('/story/nie-xiaoqian');
    await page.getByRole('button', { name: '复制链接' }).click();
    await expect(page.getByRole('textbox', { name: '本页链接' })).toHaveValue(page.url());
    await expect(page.getByRole('button', { name: '请长按上面的链接复制' })).toBeVisible();
  });

  const agents = {
    'WeChat on Android': ['Android 10; MicroMessenger/8.0', ['在浏览器打开', '手机自带的浏览器'], ['软件更新']],
    'WeChat on an iPhone': ['iPhone; MicroMessenger/8.0', ['软件更新'], ['在浏览器打开', '手机自带的浏览器']],
    'a computer': ['Windows NT 10.0', ['更新浏览器'], ['软件更新', '在浏览器打开']],
  } as const;
  for (const [name, [agent, given, spared]] of Object.entries(agents))
    test(`the advice is for ${name}`, async ({ anotherBrowser }) => {
      const context = await anotherBrowser({ userAgent: `Mozilla/5.0 (${agent})` });
      const page = await context.newPage();
      await grownOld(page);
      await page.goto('/my');
      for (const text of given) await expect(notice(page)).toContainText(text);
      for (const text of spared) await expect(notice(page)).not.toContainText(text);
    });
});

test('a host script that cannot be parsed ends in a notice, not in a blank page', async ({ page }) => {
  const broken = 'let let = 1;';
  const integrity = `sha384-${createHash('sha384').update(broken).digest('base64')}`;
  const script = /"entry":"(\/builds\/host\/[^"]+\.js)"/;
  await page.route('**/my', async (route) => {
    const answer = await route.fetch();
    const html = await answer.text();
    const entry = script.exec(html)?.[1] ?? '';
    const former = new RegExp(`"${entry}":"(sha384-[^"]+)"`).exec(html)?.[1] ?? '';
    const policy = answer.headers()['content-security-policy'] ?? '';
    await route.fulfill({
      response: answer,
      body: html.replaceAll(former, integrity),
      headers: { ...answer.headers(), 'content-security-policy': policy.replaceAll(former, integrity) },
    });
  });
  await page.route('**/builds/host/**/host.*.js', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: broken, headers: { 'access-control-allow-origin': '*' } }),
  );
  await page.goto('/my');
  await expect(notice(page).getByRole('button', { name: '刷新' })).toBeVisible();
  expect(await isStarted(page)).toBe(true);
});

test('an app that fails as it starts says so', async ({ page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(globalThis, 'WeakSet', {
      get: () => {
        throw new Error('broken on purpose');
      },
    });
  });
  await page.goto('/my');
  await expect(notice(page).getByRole('button', { name: '刷新' })).toBeVisible();
});

test('without JavaScript the page says what it needs', async ({ anotherBrowser }) => {
  const context = await anotherBrowser({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto('/explore');
  await expect(page.getByRole('heading', { name: '请打开 JavaScript' })).toBeVisible();
  await expect(page.locator('a[href^="/story/"]').first()).toBeAttached();
});

test('a browser of the floor sees no notice', async ({ person, page }) => {
  await person.open('/explore');
  await expect(page.locator('[data-first]')).toHaveCount(0);
  await expect(page.locator('#notice')).toBeHidden();
});
