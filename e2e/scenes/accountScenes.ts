import { expect, type Scene } from './scene.ts';

/** 我的 and the pages below it; `makeMember` names the reader and checks in. */
export const accountScenes: Scene[] = [
  {
    name: 'my',
    title: '我的',
    wide: true,
    async show(page) {
      await page.goto('/my');
      await expect(page.getByText('今日已签到')).toBeVisible();
    },
  },
  {
    name: 'my-settings',
    title: '我的 · 主题与字号',
    async show(page) {
      await page.goto('/my');
      await page.getByRole('button', { name: '退出登录' }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'sign-out',
    title: '退出登录',
    async show(page) {
      await page.goto('/my');
      await page.getByRole('button', { name: '退出登录' }).click();
      await expect(page.getByText('退出登录？')).toBeVisible();
    },
  },
  {
    name: 'profile',
    title: '个人资料',
    wide: true,
    async show(page) {
      await page.goto('/my/profile');
      await expect(page.getByRole('textbox', { name: '昵称' })).toHaveValue('柳如眉');
    },
  },
  {
    name: 'password',
    title: '个人资料 · 修改密码',
    async show(page) {
      await page.goto('/my/profile');
      await page.getByRole('button', { name: '修改密码' }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'security',
    title: '账号与安全',
    wide: true,
    async show(page) {
      await page.goto('/my/security');
      await expect(page.getByText('本机')).toBeVisible();
    },
  },
  {
    name: 'deletion',
    title: '账号与安全 · 注销账号',
    async show(page) {
      await page.goto('/my/security');
      await page.getByRole('button', { name: '注销账号…' }).click();
      await page.getByRole('textbox', { name: '输入「注销账号」以确认' }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'minor-mode',
    title: '未成年人模式',
    wide: true,
    async show(page) {
      await page.goto('/my/minor');
      await expect(page.getByRole('button', { name: '打开未成年人模式' })).toBeVisible();
    },
  },
  {
    name: 'recharge',
    title: '充值',
    wide: true,
    async show(page) {
      await page.goto('/my/wallet/recharge');
      await expect(page.getByRole('button', { name: '去付款 ¥6.00' })).toBeVisible();
    },
  },
  {
    name: 'order',
    title: '充值 · 等待付款',
    async show(page) {
      await page.goto('/my/wallet/recharge');
      await page.getByRole('button', { name: '去付款 ¥6.00' }).click();
      await page.getByRole('button', { name: '取消' }).click();
      await expect(page.getByRole('heading', { name: '等待付款' })).toBeVisible();
    },
  },
  {
    name: 'support',
    title: '客服中心',
    wide: true,
    async show(page) {
      await page.goto('/my/support');
      await expect(page.getByRole('heading', { name: '常见问题' })).toBeVisible();
    },
  },
  {
    name: 'support-form',
    title: '客服中心 · 写反馈',
    async show(page) {
      await page.goto('/my/support');
      const form = page.getByRole('form', { name: '写反馈' });
      await form.getByText('详情').scrollIntoViewIfNeeded();
      await expect(form.getByRole('button', { name: '发送' })).toBeVisible();
    },
  },
];
