import type { BrowserContext, Locator, Page } from '@playwright/test';
import { accountScenes } from './accountScenes.ts';
import { expect, type Scene } from './scene.ts';

type MemberState = Awaited<ReturnType<BrowserContext['storageState']>>;

const log = (page: Page) => page.getByRole('log');

async function openChat(page: Page, story: string) {
  await page.goto(`/story/${story}?chat=1`);
  await expect(log(page)).toContainText(/\p{Script=Han}{4}/u);
}

async function say(page: Page, text: string) {
  await page.getByRole('textbox', { name: '说点什么' }).fill(text);
  await page.getByRole('button', { name: '发送', exact: true }).click();
  await expect(log(page).getByText(text).last()).toBeVisible();
}

const openMenu = (page: Page) => log(page).getByRole('button', { name: '更多操作' }).last().click();

const chips = (page: Page) => page.getByRole('button', { name: /^继续/ });

async function converse(page: Page, story: string, text: string) {
  await openChat(page, story);
  await say(page, text);
  await expect(chips(page)).toBeEnabled();
}

/** Registers a reader who has checked in, talked in three stories, and requested one reply again. Resolves with the storage state. */
export async function makeMember(page: Page): Promise<MemberState> {
  await page.goto('/my');
  await page.getByRole('button', { name: '注册账号' }).click();
  await page.locator('input[name="name"]').fill('柳如眉');
  await page.getByRole('button', { name: '注册（请截图保存）' }).click();
  const byHand = page.getByRole('button', { name: '我已经复制' });
  // the toast that says they were copied lasts 3 s, so a busy machine may miss it
  await page.addLocatorHandler(byHand, () => byHand.click(), { times: 1 });
  await page.getByRole('button', { name: /^签到/ }).click();
  await expect(page.getByText('今日已签到')).toBeVisible();
  await converse(page, 'laoshan-daoshi', '师父，我想学穿墙的法术');
  await converse(page, 'nie-xiaoqian', '夜深了，姑娘从何处来？');
  await converse(page, 'hua-pi', '这幅皮是谁画的？');
  await page.getByRole('button', { name: /^换一种说法/ }).click();
  await expect(page.getByRole('img', { name: '第 2 种说法，共 2 种' })).toBeVisible();
  await expect(chips(page)).toBeEnabled();
  return page.context().storageState();
}

/** Swipes with touch events; Playwright's mouse does not count as a finger. */
async function swipeLeft(page: Page, over: Locator) {
  const box = await over.boundingBox();
  if (!box) throw new Error('what is to be swiped has no place on the page');
  const [x, y] = [box.x + box.width * 0.8, box.y + box.height / 2];
  const devtools = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', way?: number) =>
    devtools.send('Input.dispatchTouchEvent', { type, touchPoints: way === undefined ? [] : [{ x: x - way, y }] });
  await touch('touchStart', 0);
  for (let step = 1; step <= 8; step += 1) await touch('touchMove', step * 20);
  await touch('touchEnd');
}

const row = (page: Page) => page.getByRole('link', { name: /聂小倩/ }).first();

const chat: Scene[] = [
  {
    name: 'chat',
    title: '对话',
    wide: true,
    async show(page) {
      await openChat(page, 'nie-xiaoqian');
      await expect(chips(page)).toBeEnabled();
    },
  },
  {
    name: 'chat-streaming',
    title: '对话 · 正在书写',
    async show(page) {
      await openChat(page, 'ying-ning');
      await say(page, '姑娘为何总是笑？');
      const reply = log(page).getByRole('article').last();
      await expect(reply).toHaveAccessibleName('婴宁');
      await expect(reply).toContainText(/\p{Script=Han}{8}/u);
    },
  },
  {
    name: 'chat-ideas',
    title: '对话 · 灵感',
    async show(page) {
      await openChat(page, 'nie-xiaoqian');
      await page.getByRole('button', { name: /^灵感/ }).click();
      await expect(page.getByRole('button', { name: '收起灵感' })).toBeVisible();
    },
  },
  {
    name: 'chat-menu',
    title: '对话 · 一条消息的菜单',
    async show(page) {
      await openChat(page, 'nie-xiaoqian');
      await openMenu(page);
      await expect(page.getByRole('button', { name: '复制', exact: true })).toBeVisible();
    },
  },
  {
    name: 'chat-report',
    title: '对话 · 举报一条回复',
    async show(page) {
      await openChat(page, 'nie-xiaoqian');
      await openMenu(page);
      await page.getByRole('button', { name: '举报' }).click();
      await page.getByRole('radio', { name: '其他' }).check();
    },
  },
  {
    name: 'chat-versions',
    title: '对话 · 另一种说法',
    async show(page) {
      await openChat(page, 'hua-pi');
      await expect(page.getByRole('button', { name: '上一种说法' })).toBeVisible();
    },
  },
  {
    name: 'chat-find',
    title: '对话 · 查找',
    wide: true,
    async show(page) {
      await openChat(page, 'nie-xiaoqian');
      await page.getByRole('button', { name: '这段对话的更多操作' }).click();
      await page.getByRole('button', { name: '查找' }).click();
      await page.getByRole('searchbox', { name: '找说过的话' }).fill('夜深');
      await expect(page.getByText(/第 \d+ 处/)).toBeAttached();
    },
  },
  {
    name: 'chat-picture',
    title: '对话 · 生成图片',
    async show(page) {
      await openChat(page, 'nie-xiaoqian');
      await openMenu(page);
      await page.getByRole('button', { name: '生成图片' }).click();
      await expect(page.getByRole('img', { name: /《聂小倩》的图片/ })).toBeVisible();
    },
  },
  {
    name: 'chat-unpaid',
    title: '对话 · 余额不足',
    async show(page) {
      await page.route('**/api/v1/messages', (route) =>
        route.fulfill({
          status: 402,
          contentType: 'application/json',
          body: JSON.stringify({ message: '余额不足', code: 'insufficient_balance', required: 3, balance: 0 }),
        }),
      );
      await openChat(page, 'nie-xiaoqian');
      await say(page, '我想听后来的事');
      await expect(log(page).getByRole('button', { name: '获取点数' })).toBeVisible();
    },
  },
];

const lists: Scene[] = [
  {
    name: 'conversations',
    title: '聊过',
    wide: true,
    async show(page) {
      await page.goto('/conversations');
      await expect(row(page)).toBeVisible();
    },
  },
  {
    name: 'conversations-swiped',
    title: '聊过 · 左滑删除',
    async show(page) {
      await page.goto('/conversations');
      await expect(row(page)).toBeVisible();
      // the fetched list replaces the cached one, which would cancel a swipe
      await page.waitForLoadState('networkidle');
      await expect(page.locator('[data-swipe-row]').first()).toBeAttached();
      await swipeLeft(page, row(page));
      await expect(
        page.locator('button:not([inert], [role="menuitem"])').filter({ hasText: '删除' }).first(),
      ).toBeVisible();
    },
  },
  {
    name: 'conversations-menu',
    title: '聊过 · 更多操作',
    async show(page) {
      await page.goto('/conversations');
      await page.getByRole('button', { name: '《聂小倩》的更多操作' }).click();
      await expect(page.getByRole('menuitem', { name: '删除' })).toBeVisible();
    },
  },
  {
    name: 'conversations-search',
    title: '聊过 · 搜索',
    async show(page) {
      await page.goto('/conversations');
      await page.getByRole('button', { name: '搜索对话' }).click();
      await page.getByRole('searchbox').fill('聂');
      await expect(page.getByText('找到 1 段')).toBeAttached();
    },
  },
  {
    name: 'conversations-empty',
    title: '聊过 · 还没有',
    async show(page) {
      await page.route('**/api/v1/conversations**', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), data: [] } });
      });
      await page.goto('/conversations');
      await expect(page.getByText('还没有聊过')).toBeVisible();
    },
  },
  {
    name: 'transactions',
    title: '消费明细',
    wide: true,
    async show(page) {
      await page.goto('/my/wallet/transactions');
      await expect(page.getByRole('listitem').filter({ hasText: '签到' })).toBeVisible();
    },
  },
];

/** Screens of a member; the page must start from the state of `makeMember`. */
export const memberScenes = [...chat, ...lists, ...accountScenes];
