import type { Page } from '@playwright/test';
import { expect, json, type Scene, stories } from './scene.ts';

/** Opens 发现 by its tab, because its document contains the first stories. */
async function toExplore(page: Page) {
  await page.goto('/my');
  await expect(page.locator('[data-first]')).toHaveCount(0);
  await page.getByRole('link', { name: '发现' }).click();
}

/** Makes the page treat this browser as too old. */
export const grownOld = (page: Page) => page.addInitScript(() => Reflect.deleteProperty(AbortSignal, 'timeout'));

/** Screens without a response, a network or a page. */
export const faultScenes: Scene[] = [
  {
    name: 'explore-loading',
    title: '发现 · 正在加载',
    async show(page) {
      await page.route('**/api/v1/stories**', () => new Promise(() => undefined));
      await toExplore(page);
      await expect(page.getByRole('status').filter({ hasText: '正在加载故事' }).first()).toBeAttached();
    },
  },
  {
    name: 'explore-error',
    title: '发现 · 加载失败，重试',
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
    name: 'old-browser',
    title: '浏览器太旧',
    wide: true,
    async show(page) {
      await grownOld(page);
      await page.goto('/my');
      await expect(page.getByRole('heading', { name: '换个新一点的浏览器' })).toBeVisible();
    },
  },
  {
    name: 'old-browser-explore',
    title: '浏览器太旧 · 发现',
    async show(page) {
      await grownOld(page);
      await page.goto('/explore');
      await expect(page.getByRole('button', { name: '复制链接' })).toBeVisible();
      await expect(stories(page).first()).toBeVisible();
    },
  },
  {
    name: 'old-browser-story',
    title: '浏览器太旧 · 分享的故事',
    async show(page) {
      await grownOld(page);
      await page.goto('/story/nie-xiaoqian');
      await expect(page.getByRole('heading', { name: '聂小倩' })).toBeVisible();
      await expect(page.getByRole('button', { name: '复制链接' })).toBeVisible();
    },
  },
  {
    name: 'app-failed',
    title: '没能打开，刷新',
    async show(page) {
      await page.route('**/builds/host/**/host.*.js*', (route) => route.abort());
      await page.goto('/my');
      await expect(page.getByRole('button', { name: '刷新' })).toBeVisible();
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
