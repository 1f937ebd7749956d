import type { Page } from '@playwright/test';
import { expect, type Scene } from './scene.ts';

const json = (status: number, body: unknown) => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
});

const dialog = (page: Page) => page.getByRole('dialog').filter({ visible: true });

async function openPopup(page: Page, button: string) {
  await page.goto('/my');
  await page.getByRole('button', { name: button }).click();
  await expect(dialog(page)).toBeVisible();
}

/** By the tab: a document of 发现 brings its first stories with it. */
async function toExplore(page: Page) {
  await page.goto('/my');
  await page.getByRole('link', { name: '发现' }).click();
}

const stories = (page: Page) => page.locator('a[href^="/story/"]');

const screens: Scene[] = [
  {
    name: 'explore',
    title: '发现',
    wide: true,
    async show(page) {
      await page.goto('/explore');
      await expect(stories(page).nth(3)).toBeVisible();
    },
  },
  {
    name: 'story',
    title: '故事',
    wide: true,
    async show(page) {
      await page.goto('/story/nie-xiaoqian');
      await expect(page.getByRole('link', { name: '开始聊天' })).toBeVisible();
    },
  },
  {
    name: 'story-text',
    title: '故事 · 人物与开篇',
    async show(page) {
      await page.goto('/story/nie-xiaoqian');
      await page.getByRole('heading', { name: '开篇' }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'chat-opening',
    title: '对话 · 未登录，只有开篇',
    async show(page) {
      await page.goto('/story/nie-xiaoqian?chat=1');
      await expect(page.getByRole('log')).toContainText('金华');
    },
  },
  {
    name: 'conversations-guest',
    title: '聊过 · 未登录',
    async show(page) {
      await page.goto('/conversations');
      await expect(page.getByText('聊过的故事会留在这里')).toBeVisible();
    },
  },
  {
    name: 'my-guest',
    title: '我的 · 未登录',
    wide: true,
    async show(page) {
      await page.goto('/my');
      await expect(page.getByRole('button', { name: '注册账号' })).toBeVisible();
    },
  },
  {
    name: 'test-list',
    title: '测试列表',
    wide: true,
    async show(page) {
      await page.goto('/test/list');
      await expect(page.getByText('需要登录').first()).toBeVisible();
    },
  },
];

const popup: Scene[] = [
  { name: 'register', title: '注册', wide: true, show: (page) => openPopup(page, '注册账号') },
  { name: 'login', title: '登录', show: (page) => openPopup(page, '已有账号，登录') },
  {
    name: 'login-refused',
    title: '登录 · 账号或密码错误',
    async show(page) {
      await page.route('**/v1/login', (route) =>
        route.fulfill(json(422, { message: '账号或密码错误', errors: { login: ['账号或密码错误'] } })),
      );
      await openPopup(page, '已有账号，登录');
      await page.locator('input[name="login"]').fill('a12345678');
      await page.locator('input[name="password"]').fill('000000');
      await page.getByRole('button', { name: '登录', exact: true }).click();
      await expect(page.locator('[aria-invalid="true"]').first()).toBeVisible();
    },
  },
  {
    name: 'confirm-email',
    title: '注册 · 等待邮箱确认',
    async show(page) {
      await openPopup(page, '注册账号');
      await page.locator('input[name="login"]').fill(`liu${Date.now() % 1_000_000}@example.org`);
      await page.getByRole('button', { name: '注册（请截图保存）' }).click();
      await expect(page.getByText('没收到？')).toBeVisible();
    },
  },
  {
    name: 'credentials',
    title: '注册 · 自动复制失败',
    async show(page) {
      await page.addInitScript(() => {
        Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject(new Error('no')) } });
        document.execCommand = () => false;
      });
      await openPopup(page, '注册账号');
      await page.getByRole('button', { name: '注册（请截图保存）' }).click();
      await expect(page.getByRole('button', { name: '我已经复制' })).toBeVisible();
    },
  },
];

const faults: Scene[] = [
  {
    name: 'explore-loading',
    title: '发现 · 正在取',
    async show(page) {
      await page.route('**/api/v1/stories**', () => new Promise(() => undefined));
      await toExplore(page);
      await expect(page.getByRole('status').filter({ hasText: '正在取故事' }).first()).toBeAttached();
    },
  },
  {
    name: 'explore-error',
    title: '发现 · 取不到，重试',
    async show(page) {
      await page.route('**/api/v1/stories**', (route) => route.fulfill(json(500, { message: '服务器错误' })));
      await toExplore(page);
      await expect(page.getByRole('button', { name: '重试' })).toBeVisible();
    },
  },
  {
    name: 'part-lost',
    title: '功能加载失败，重试',
    async show(page) {
      await page.route('**/builds/account/**', (route) => route.abort());
      await page.goto('/my');
      await expect(page.getByRole('button', { name: '重试' })).toBeVisible();
    },
  },
  {
    name: 'offline',
    title: '没有网络',
    async show(page) {
      await page.goto('/explore');
      await expect(stories(page).nth(3)).toBeVisible();
      await page.context().setOffline(true);
      await expect(page.getByText('当前没有网络')).toBeVisible();
    },
  },
  {
    name: 'story-gone',
    title: '没有这个故事',
    async show(page) {
      await page.goto('/story/no-such-story');
      await expect(page.getByText('这个故事不在了')).toBeVisible();
    },
  },
  {
    name: 'not-found',
    title: '没有这个页面',
    wide: true,
    async show(page) {
      await page.goto('/no/such/page');
      await expect(page.getByText('没有这个页面').first()).toBeVisible();
    },
  },
  {
    name: 'email-verified',
    title: '邮箱确认 · 完成',
    async show(page) {
      await page.route('**/api/v1/email/verify/**', (route) => route.fulfill(json(200, { message: '邮箱已确认' })));
      await page.goto('/email/verify/1/hash');
      await expect(page.getByText('邮箱已确认')).toBeVisible();
    },
  },
  {
    name: 'email-refused',
    title: '邮箱确认 · 链接失效',
    async show(page) {
      await page.goto('/email/verify/0/0');
      await expect(page.getByRole('link', { name: '去看故事' })).toBeVisible();
    },
  },
];

/** What a visitor without an account meets. */
export const guestScenes = [...screens, ...popup, ...faults];
