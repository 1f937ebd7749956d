import type { Page } from '@playwright/test';
import { faultScenes } from './faultScenes.ts';
import { expect, json, type Scene, stories } from './scene.ts';

const dialog = (page: Page) => page.getByRole('dialog').filter({ visible: true });

async function openPopup(page: Page, button: string) {
  await page.goto('/my');
  await page.getByRole('button', { name: button }).click();
  await expect(dialog(page)).toBeVisible();
}

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
    name: 'explore-search',
    title: '发现 · 搜索',
    wide: true,
    async show(page) {
      await page.goto('/explore?q=鬼');
      await expect(stories(page).filter({ visible: true }).first()).toBeVisible();
      await expect(page.getByRole('searchbox', { name: '搜索故事' })).toHaveValue('鬼');
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
    name: 'privacy',
    title: '隐私政策',
    async show(page) {
      await page.goto('/privacy');
      await expect(page.getByRole('heading', { level: 2 }).first()).toBeVisible();
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
    title: '登录 · 用户名或密码错误',
    async show(page) {
      await page.route('**/v1/login', (route) =>
        route.fulfill(json(422, { message: '用户名或密码错误', errors: { login: ['用户名或密码错误'] } })),
      );
      await openPopup(page, '已有账号，登录');
      await page.locator('input[name="login"]').fill('a12345678');
      await page.locator('input[name="password"]').fill('000000');
      await page.getByRole('button', { name: '登录', exact: true }).click();
      await expect(page.locator('[aria-invalid="true"]').first()).toBeVisible();
    },
  },
  {
    name: 'forgot',
    title: '登录 · 找回密码',
    async show(page) {
      await openPopup(page, '已有账号，登录');
      await page.getByRole('button', { name: '忘记密码？' }).click();
      await expect(dialog(page).getByRole('heading', { name: '找回密码' })).toBeVisible();
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
        Object.defineProperty(navigator, 'clipboard', { value: undefined });
        Object.defineProperty(document, 'execCommand', { value: undefined });
      });
      await openPopup(page, '注册账号');
      await page.getByRole('button', { name: '注册（请截图保存）' }).click();
      await expect(page.getByRole('button', { name: '我已经复制' })).toBeVisible();
    },
  },
];

/** Screens of a visitor without an account. */
export const guestScenes = [...screens, ...popup, ...faultScenes];
