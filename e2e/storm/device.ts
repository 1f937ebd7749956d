import type { Browser, BrowserContext, Page } from '@playwright/test';
import type { Account } from '../person.ts';
import type { Random } from './random.ts';

/** A line that its writer saw standing in the chat after 发送: from then on it must not be lost. */
export interface Sent {
  story: string;
  text: string;
}

export interface Device {
  name: string;
  account: Account;
  context: BrowserContext;
  page: Page;
  sent: Sent[];
  /** What was done, newest last. */
  diary: string[];
  errors: string[];
}

/** What a message stands for on a page: whose, and its words without marks and spaces. */
export interface Line {
  mine: boolean;
  words: string;
}

export const wordsOf = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '');

const actMs = 4000;
const phone = { viewport: { width: 390, height: 844 }, locale: 'zh-CN', timezoneId: 'Asia/Shanghai' } as const;

export async function openDevice(browser: Browser, origin: string, name: string, account: Account): Promise<Device> {
  const context = await browser.newContext({ ...phone, baseURL: origin });
  context.setDefaultTimeout(actMs * 2);
  const device: Device = { name, account, context, page: await context.newPage(), sent: [], diary: [], errors: [] };
  context.on('weberror', (error) => device.errors.push(`${name}: ${error.error().stack ?? error.error().message}`));
  await device.page.goto('/my');
  await clearWay(device);
  await device.page
    .getByRole('button', { name: /登录|注册/ })
    .first()
    .click();
  await signIn(device);
  return device;
}

const popup = (page: Page) => page.getByRole('dialog').filter({ has: page.locator('input[name="password"]') });

async function signIn({ page, account }: Device) {
  const dialog = popup(page);
  await dialog.waitFor({ timeout: actMs });
  if (await dialog.locator('input[name="name"]').isVisible())
    await dialog.getByRole('button', { name: /登录/ }).first().click({ timeout: actMs });
  await dialog.locator('input[name="login"]').fill(account.login, { timeout: actMs });
  await dialog.locator('input[name="password"]').fill(account.password, { timeout: actMs });
  await dialog.getByRole('button', { name: '登录', exact: true }).click({ timeout: actMs });
  await dialog.waitFor({ state: 'hidden', timeout: actMs * 3 });
}

/** Signs in where the page asks for it, and closes whatever else lies over the screen. */
async function clearWay(device: Device) {
  const { page } = device;
  if (await popup(page).isVisible()) return signIn(device);
  const dialog = page.locator('dialog[open]');
  if ((await dialog.count()) > 0) await page.keyboard.press('Escape');
}

const chatOf = (story: string) => `/story/${story}?chat=1`;

/** The open chat's story, or undefined. */
export const openStory = (page: Page) => {
  const url = new URL(page.url());
  return url.searchParams.has('chat') ? url.pathname.split('/')[2] : undefined;
};

async function openChat({ page }: Device, story: string) {
  if (openStory(page) !== story) await page.goto(chatOf(story), { waitUntil: 'domcontentloaded', timeout: actMs * 3 });
  await page.getByRole('textbox', { name: '说点什么' }).waitFor({ timeout: actMs });
}

export const stories = ['nie-xiaoqian', 'hua-pi'] as const;
/** Its conversations are deleted now and then, so nothing said in it is looked for. */
export const shortLived = 'ying-ning';

const acts = {
  async say(device: Device, random: Random) {
    const story = random.pick([...stories, ...stories, shortLived]);
    await openChat(device, story);
    const text = `${device.name}说${device.sent.length + 1}号${Math.floor(random.next() * 1e6)}`;
    await device.page.getByRole('textbox', { name: '说点什么' }).fill(text, { timeout: actMs });
    await device.page.getByRole('button', { name: '发送', exact: true }).click({ timeout: actMs });
    await device.page.getByRole('log').getByText(text).first().waitFor({ timeout: actMs });
    device.sent.push({ story, text });
  },
  async suggest({ page }: Device) {
    await page.getByRole('button', { name: '灵感', exact: true }).click({ timeout: actMs });
    await page.getByRole('button', { name: /^填入/ }).first().click({ timeout: actMs });
  },
  async goOn({ page }: Device) {
    await page
      .getByRole('button', { name: /续写|^继续$/ })
      .last()
      .click({ timeout: actMs });
  },
  async retry({ page }: Device) {
    await page
      .getByRole('button', { name: /点按重试|全部重发|刷新看看/ })
      .first()
      .click({ timeout: 1000 });
  },
  async draft(device: Device, random: Random) {
    await openChat(device, random.pick(stories));
    await device.page.getByRole('textbox', { name: '说点什么' }).pressSequentially('还没想好', { timeout: actMs });
  },
  async look({ page }: Device, random: Random) {
    await page.goto(random.pick(['/explore', '/conversations', '/my']), { waitUntil: 'commit', timeout: actMs * 2 });
  },
  async tab({ page }: Device, random: Random) {
    await page
      .getByRole('link', { name: random.pick(['发现', '聊过', '我的']) })
      .first()
      .click({ timeout: 1000 });
  },
  async checkIn({ page }: Device) {
    await page.goto('/my', { waitUntil: 'domcontentloaded', timeout: actMs * 2 });
    await page.getByRole('button', { name: /^签到/ }).click({ timeout: actMs });
  },
  async reload({ page }: Device) {
    await page.reload({ waitUntil: 'commit', timeout: actMs * 2 });
  },
  async back({ page }: Device) {
    await page.goBack({ waitUntil: 'commit', timeout: actMs });
  },
  async deleteConversation({ page }: Device) {
    await page.goto('/conversations', { waitUntil: 'domcontentloaded', timeout: actMs * 2 });
    await page.getByRole('button', { name: '《婴宁》的更多操作' }).click({ timeout: actMs });
    await page.getByRole('menuitem', { name: '删除' }).click({ timeout: actMs });
  },
  async offline({ context, page }: Device, random: Random) {
    await context.setOffline(true);
    await page.waitForTimeout(random.between(500, 5000));
    await context.setOffline(false);
  },
  /** The browser drops the page without a word to it, and the reader opens the app again. */
  async crash(device: Device, random: Random) {
    const story = openStory(device.page);
    const cdp = await device.context.newCDPSession(device.page);
    // it is never answered
    void cdp.send('Page.crash').catch(() => undefined);
    await device.page.close();
    device.page = await device.context.newPage();
    await device.page.goto(story ? chatOf(story) : '/explore', { waitUntil: 'commit', timeout: actMs * 2 });
    await device.page.waitForTimeout(random.between(0, 500));
  },
  async loseSession({ context }: Device) {
    await context.clearCookies();
  },
} satisfies Record<string, (device: Device, random: Random) => Promise<void>>;

type ActName = keyof typeof acts;

const weights: Record<ActName, number> = {
  say: 14,
  suggest: 2,
  goOn: 2,
  retry: 3,
  draft: 1,
  look: 2,
  tab: 3,
  checkIn: 0.5,
  reload: 2,
  back: 2,
  deleteConversation: 0.7,
  offline: 1.5,
  crash: 1,
  loseSession: 0.5,
};

/** One thing that an impatient reader does; what the screen does not let them do is left. */
export async function act(device: Device, random: Random) {
  const name = random.weighed(weights);
  const began = Date.now();
  try {
    await clearWay(device);
    await acts[name](device, random);
    device.diary.push(`${began} ${name}`);
  } catch (cause) {
    device.diary.push(`${began} ${name}, not done: ${(cause as Error).message.split('\n')[0]}`);
  }
  await device.page.waitForTimeout(random.between(100, 1200)).catch(() => undefined);
}

/** What a reader does after the storm: opens anew a page that is none of ours, signs in where that is asked for, has sent again what failed. */
export async function tidyUp(device: Device) {
  const { page } = device;
  // a portal's page, or half a document: nothing of ours runs there
  const runs = page.waitForFunction(() => '__loadAsset' in globalThis, undefined, { timeout: actMs });
  await runs.catch(() => page.reload({ waitUntil: 'commit' }).catch(() => undefined));
  await clearWay(device).catch(() => undefined);
  for (const name of ['登录', '点按重试', '刷新看看']) {
    const button = page.getByRole('log').getByRole('button', { name, exact: true }).first();
    if (await button.isVisible()) await button.click({ timeout: 1000 }).catch(() => undefined);
  }
  await clearWay(device).catch(() => undefined);
}

/** The messages that stand in the open chat, without the story's opening; what waits or failed is marked. */
export const linesOn = (page: Page): Promise<(Line & { isOnTheWay: boolean })[]> =>
  page.getByRole('log').evaluate((log) =>
    [...log.querySelectorAll('article')].map((article) => {
      const bubble = article.querySelector('[data-confirmed]');
      const body = bubble ?? article.querySelector('p')?.parentElement;
      return {
        mine: bubble !== null,
        isOnTheWay: bubble?.getAttribute('data-confirmed') === 'false',
        words: (body?.textContent ?? '').replace(/[^\p{L}\p{N}]/gu, ''),
      };
    }),
  );
