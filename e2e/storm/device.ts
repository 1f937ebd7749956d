// A reader's device: a browser, and the actions of an impatient reader.
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from '@playwright/test';
import { chromium } from 'playwright';
import { provideChromium, testFlags } from '../needs.ts';
import type { Account } from '../person.ts';
import type { Random } from './random.ts';
import { messagesOf } from './record.ts';
import { lineOf, type Sent, type ShownLine, type ShownRow, wordsOf } from './verdict.ts';

/** An action, `at` ms after the start of the storm. */
interface DiaryEntry {
  at: number;
  what: string;
}

interface Draft {
  text: string;
  /** ms since the start of the storm */
  at: number;
}

export interface Device {
  name: string;
  account: Account;
  context: BrowserContext;
  page: Page;
  sent: Sent[];
  /** Last unsent draft of each story's composer. */
  drafts: Map<string, Draft>;
  diary: DiaryEntry[];
  errors: string[];
  /** Offset of its clock, in ms. */
  clockShift: number;
  /** Simulates a full disk while the session is open. */
  fullDisk: CDPSession | null;
  /** Closes the browser and reopens it with its profile; null without a profile. */
  reopen: (() => Promise<BrowserContext>) | null;
  /** Origin of the proxy. */
  origin: string;
  /** Origin of the product, without the proxy. */
  direct: string;
  now(): number;
}

const ACTION_TIMEOUT_MS = 6000;

interface DeviceOptions {
  name: string;
  account: Account;
  origin: string;
  direct: string;
  now: () => number;
}

/** Opens a phone whose browser stores its data in `profile`, or a context in `browser`, whose data is lost on closing. */
export async function openDevice(
  { name, account, origin, direct, now }: DeviceOptions,
  home: { browser: Browser } | { profile: string },
): Promise<Device> {
  const phone: BrowserContextOptions = {
    viewport: { width: 390, height: 844 },
    locale: 'zh-CN',
    timezoneId: 'Asia/Shanghai',
    baseURL: origin,
  };
  const executablePath = await provideChromium();
  const launch = (profile: string) =>
    chromium.launchPersistentContext(profile, { ...phone, executablePath, args: testFlags });
  const open = () => ('profile' in home ? launch(join(home.profile, name)) : home.browser.newContext(phone));
  const errors: string[] = [];
  const openContext = async () => {
    const context = await open();
    context.setDefaultTimeout(ACTION_TIMEOUT_MS * 2);
    context.on('weberror', (error) => errors.push(`${name}: ${error.error().stack ?? error.error().message}`));
    return context;
  };
  const context = await openContext();
  const device: Device = {
    name,
    account,
    context,
    page: context.pages()[0] ?? (await context.newPage()),
    sent: [],
    drafts: new Map(),
    diary: [],
    errors,
    clockShift: 0,
    fullDisk: null,
    reopen: 'profile' in home ? openContext : null,
    origin,
    direct,
    now,
  };
  await signInAgain(device);
  return device;
}

const popup = (page: Page) => page.getByRole('dialog').filter({ has: page.locator('input[name="password"]') });

async function signIn({ page, account }: Device) {
  const dialog = popup(page);
  await dialog.waitFor({ timeout: ACTION_TIMEOUT_MS });
  if (await dialog.locator('input[name="name"]').isVisible())
    await dialog.getByRole('button', { name: /登录/ }).first().click({ timeout: ACTION_TIMEOUT_MS });
  await dialog.locator('input[name="login"]').fill(account.login, { timeout: ACTION_TIMEOUT_MS });
  await dialog.locator('input[name="password"]').fill(account.password, { timeout: ACTION_TIMEOUT_MS });
  await dialog.getByRole('button', { name: '登录', exact: true }).click({ timeout: ACTION_TIMEOUT_MS });
  await dialog.waitFor({ state: 'hidden', timeout: ACTION_TIMEOUT_MS * 3 });
}

/** Whether the page believes that somebody is signed in. */
export const isSignedIn = ({ page }: Device): Promise<boolean> =>
  page.evaluate(() => localStorage.getItem('user-store') !== null).catch(() => false);

/** Opens 我的 and signs in there, unless somebody is signed in. */
export async function signInAgain(device: Device) {
  const { page } = device;
  await page.goto('/my', { waitUntil: 'domcontentloaded', timeout: ACTION_TIMEOUT_MS * 3 });
  const signInButton = page.getByRole('button', { name: /登录|注册/ }).first();
  const signOutButton = page.getByRole('button', { name: '退出登录', exact: true });
  await signInButton
    .or(signOutButton)
    .first()
    .waitFor({ timeout: ACTION_TIMEOUT_MS * 3 });
  if (await signOutButton.isVisible()) return;
  if (!(await popup(page).isVisible())) await signInButton.click({ timeout: ACTION_TIMEOUT_MS });
  await signIn(device);
}

/** Signs in if the page requires it, and closes other layers over the screen. */
async function closeOverlays(device: Device) {
  const { page } = device;
  if (await popup(page).isVisible()) return signIn(device);
  const dialog = page.locator('dialog[open]');
  if ((await dialog.count()) > 0) await page.keyboard.press('Escape');
}

const chatPath = (story: string) => `/story/${story}?chat=1`;

export const openStory = (page: Page) => {
  const url = new URL(page.url());
  return url.searchParams.has('chat') ? url.pathname.split('/')[2] : undefined;
};

async function openChat({ page }: Device, story: string) {
  if (openStory(page) !== story)
    await page.goto(chatPath(story), { waitUntil: 'domcontentloaded', timeout: ACTION_TIMEOUT_MS * 3 });
  await page.getByRole('textbox', { name: '说点什么' }).waitFor({ timeout: ACTION_TIMEOUT_MS });
}

export const stories = ['nie-xiaoqian', 'hua-pi'] as const;
/** Its conversations are deleted at times, so its messages are not checked. */
export const volatileStory = 'ying-ning';

const MINUTE_MS = 60_000;
const clockShifts = [-72 * 60, -5 * 60, -10, 0, 0, 10, 5 * 60, 72 * 60].map((minutes) => minutes * MINUTE_MS);

/** Shifts the clock of the current document and all later ones. */
export async function setClock(device: Device, shift: number) {
  device.clockShift = shift;
  const script = clockScript(shift);
  await device.context.addInitScript({ content: script });
  await device.page.evaluate(script).catch(() => undefined);
}

/** A draft is stored shortly after the last key. A younger one may be lost in a crash. */
const DRAFT_STORED_AFTER_MS = 2000;

/** A string, because a compiled function needs its compiler's helpers. The order of init scripts is undefined, so the newest wins. */
const clockScript = (shift: number) => `(() => {
  const put = { shift: ${shift}, order: ${performance.now()} };
  if (globalThis.__clock) {
    if (put.order > __clock.order) Object.assign(__clock, put);
    return;
  }
  globalThis.__clock = put;
  const Real = Date;
  const now = () => Real.now() + put.shift;
  globalThis.Date = new Proxy(Real, {
    construct: (target, words, derived) => Reflect.construct(target, words.length > 0 ? words : [now()], derived),
    apply: () => new Real(now()).toString(),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  });
})()`;

/** Sets the quota of the origin to nothing, or restores it. */
async function setDisk(device: Device, isFull: boolean) {
  await device.fullDisk?.detach().catch(() => undefined);
  device.fullDisk = null;
  if (!isFull) return;
  device.fullDisk = await device.context.newCDPSession(device.page);
  const origin = new URL(device.origin).origin;
  await device.fullDisk.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 });
}

const acts = {
  async say(device: Device, random: Random) {
    const story = random.pick([...stories, ...stories, volatileStory]);
    await openChat(device, story);
    const text = lineOf(device.name, device.sent.length + 1, Math.floor(random.next() * 1e6));
    device.drafts.delete(story);
    await device.page.getByRole('textbox', { name: '说点什么' }).fill(text, { timeout: ACTION_TIMEOUT_MS });
    const line: Sent = { story, text, at: device.now(), wasSeen: false, wasGivenUp: false };
    device.sent.push(line);
    await device.page.getByRole('button', { name: '发送', exact: true }).click({ timeout: ACTION_TIMEOUT_MS });
    await device.page.getByRole('log').getByText(text).first().waitFor({ timeout: ACTION_TIMEOUT_MS });
    line.wasSeen = true;
    return text;
  },
  async suggest(device: Device) {
    const { page } = device;
    await page.getByRole('button', { name: '灵感', exact: true }).click({ timeout: ACTION_TIMEOUT_MS });
    device.drafts.delete(openStory(page) ?? '');
    await page.getByRole('button', { name: /^填入/ }).first().click({ timeout: ACTION_TIMEOUT_MS });
  },
  async goOn({ page }: Device) {
    await page
      .getByRole('button', { name: /续写|^继续$/ })
      .last()
      .click({ timeout: ACTION_TIMEOUT_MS });
  },
  async retry({ page }: Device) {
    await page
      .getByRole('button', { name: /点按重试|全部重发|刷新看看/ })
      .first()
      .click({ timeout: 1000 });
  },
  async draft(device: Device, random: Random) {
    const story = random.pick(stories);
    await openChat(device, story);
    const field = device.page.getByRole('textbox', { name: '说点什么' });
    device.drafts.delete(story);
    await field.pressSequentially('还没想好', { timeout: ACTION_TIMEOUT_MS });
    const text = await field.inputValue({ timeout: ACTION_TIMEOUT_MS });
    device.drafts.set(story, { text, at: device.now() });
    return `${story}: ${text}`;
  },
  async look({ page }: Device, random: Random) {
    await page.goto(random.pick(['/explore', '/conversations', '/my']), {
      waitUntil: 'commit',
      timeout: ACTION_TIMEOUT_MS * 2,
    });
  },
  async tab({ page }: Device, random: Random) {
    await page
      .getByRole('link', { name: random.pick(['发现', '聊过', '我的']) })
      .first()
      .click({ timeout: 1000 });
  },
  async checkIn({ page }: Device) {
    await page.goto('/my', { waitUntil: 'domcontentloaded', timeout: ACTION_TIMEOUT_MS * 2 });
    await page.getByRole('button', { name: /^签到/ }).click({ timeout: ACTION_TIMEOUT_MS });
  },
  async reload({ page }: Device) {
    await page.reload({ waitUntil: 'commit', timeout: ACTION_TIMEOUT_MS * 2 });
  },
  async back({ page }: Device) {
    await page.goBack({ waitUntil: 'commit', timeout: ACTION_TIMEOUT_MS });
  },
  async deleteConversation({ page }: Device) {
    await page.goto('/conversations', { waitUntil: 'domcontentloaded', timeout: ACTION_TIMEOUT_MS * 2 });
    await page.getByRole('button', { name: '《婴宁》的更多操作' }).click({ timeout: ACTION_TIMEOUT_MS });
    await page.getByRole('menuitem', { name: '删除' }).click({ timeout: ACTION_TIMEOUT_MS });
  },
  async offline({ context, page }: Device, random: Random) {
    await context.setOffline(true);
    await page.waitForTimeout(random.between(500, 5000));
    await context.setOffline(false);
  },
  /** Crashes the page without any event. The reader then opens the app again. */
  async crash(device: Device, random: Random) {
    const story = openStory(device.page);
    const cdp = await device.context.newCDPSession(device.page);
    for (const [story, { at }] of device.drafts)
      if (device.now() - at < DRAFT_STORED_AFTER_MS) device.drafts.delete(story);
    // it never returns a response
    void cdp.send('Page.crash').catch(() => undefined);
    await reopenPage(device, story, random);
  },
  async reopen(device: Device, random: Random) {
    if (!device.reopen) throw new Error('it keeps nothing');
    const story = openStory(device.page);
    await device.context.close();
    device.fullDisk = null;
    device.context = await device.reopen();
    await device.context.addInitScript({ content: clockScript(device.clockShift) });
    await reopenPage(device, story, random);
  },
  async loseSession({ context }: Device) {
    await context.clearCookies();
  },
  /** Signs out, which removes unsent messages from the device, as its dialog says. */
  async signOut(device: Device) {
    const { page } = device;
    await page.goto('/my', { waitUntil: 'domcontentloaded', timeout: ACTION_TIMEOUT_MS * 2 });
    await page.getByRole('button', { name: '退出登录', exact: true }).click({ timeout: ACTION_TIMEOUT_MS });
    const question = page.locator('dialog[open]').filter({ hasText: '退出登录？' });
    await question.waitFor({ timeout: ACTION_TIMEOUT_MS });
    const atRisk: Sent[] = [];
    for (const story of stories) {
      const storedBodies = (await messagesOf(device.context, device.direct, story)).map(({ body }) => body);
      atRisk.push(...device.sent.filter((line) => line.story === story && !storedBodies.includes(line.text)));
    }
    for (const line of atRisk) line.wasGivenUp = true;
    device.drafts.clear();
    await question.getByRole('button', { name: '退出登录', exact: true }).click({ timeout: ACTION_TIMEOUT_MS });
    await question.waitFor({ state: 'hidden', timeout: ACTION_TIMEOUT_MS * 2 });
    return `with ${atRisk.length} not sent`;
  },
  signInAgain,
  async clock(device: Device, random: Random) {
    await setClock(device, random.pick(clockShifts));
    return `${device.clockShift / MINUTE_MS} min`;
  },
  async disk(device: Device) {
    await setDisk(device, device.fullDisk === null);
    return device.fullDisk ? 'full' : 'free';
  },
} satisfies Record<string, (device: Device, random: Random) => Promise<unknown>>;

async function reopenPage(device: Device, story: string | undefined, random: Random) {
  await device.page.close();
  device.page = await device.context.newPage();
  await device.page.goto(story ? chatPath(story) : '/explore', { waitUntil: 'commit', timeout: ACTION_TIMEOUT_MS * 2 });
  // a reader acts on what has loaded by then
  await device.page.waitForTimeout(random.between(0, 500));
}

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
  reopen: 0.7,
  loseSession: 0.5,
  signOut: 0.6,
  signInAgain: 0.8,
  clock: 1,
  disk: 0.8,
};

/** Performs one action of an impatient reader; skips it if the screen does not allow it. */
export async function act(device: Device, random: Random) {
  const name = random.pickWeighted(weights);
  const entry: DiaryEntry = { at: device.now(), what: name };
  device.diary.push(entry);
  try {
    await closeOverlays(device);
    const result: unknown = await acts[name](device, random);
    if (typeof result === 'string') entry.what = `${name} ${result}`;
  } catch (cause) {
    entry.what = `${name}, not done: ${(cause as Error).message.split('\n')[0]}`;
  }
  // a reader's pause between two actions, independent of the page
  await device.page.waitForTimeout(random.between(200, 2000)).catch(() => undefined);
}

/** Ends all faults: restores the network, the clock and the disk, and signs in again. */
export async function calmDown(device: Device) {
  await device.context.setOffline(false);
  await setClock(device, 0);
  await setDisk(device, false);
  await tidyUp(device);
  for (let attempt = 0; attempt < 5 && !(await isSignedIn(device)); attempt += 1)
    await signInAgain(device).catch(() => undefined);
}

/** Does what a reader does after a failure: reloads a page that is not ours, signs in and resends failed messages. */
export async function tidyUp(device: Device) {
  const { page } = device;
  // a captive portal's page, or an incomplete document, in which the app does not run
  const appStart = page.waitForFunction(() => '__loadAsset' in globalThis, undefined, { timeout: ACTION_TIMEOUT_MS });
  await appStart.catch(() => page.reload({ waitUntil: 'commit' }).catch(() => undefined));
  await closeOverlays(device).catch(() => undefined);
  if (await page.getByRole('log').isVisible()) await findFailed(page);
  for (const name of ['登录', '点按重试', '刷新看看']) {
    const button = page.getByRole('log').getByRole('button', { name, exact: true }).first();
    if (await button.isVisible()) await button.click({ timeout: 1000 }).catch(() => undefined);
  }
  await closeOverlays(device).catch(() => undefined);
}

/** Scrolls up to a failed message that blocks later ones: rows out of view are not in the document. */
async function findFailed(page: Page) {
  const log = page.getByRole('log');
  // no named functions, because the compiler would add calls of a helper that the page does not have
  const isWaiting = await log.evaluate(async (log) => {
    log.scrollTop = log.scrollHeight;
    await new Promise((resolve) => requestAnimationFrame(resolve));
    return log.querySelector('[data-confirmed="false"]') !== null;
  });
  if (!isWaiting) return;
  await log.evaluate(async (log) => {
    for (let screen = 0; screen < 400 && log.scrollTop > 0 && !log.textContent?.includes('点按重试'); screen += 1) {
      log.scrollTop -= log.clientHeight / 2;
      for (let frame = 0; frame < 2; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  });
}

/** The last messages in the open chat, without the story's opening; messages that wait or failed are marked. */
export const linesOn = (page: Page): Promise<ShownLine[]> =>
  page.getByRole('log').evaluate(async (log) => {
    // only rows near the view are in the document
    for (let frame = 0; frame < 5; frame += 1) {
      log.scrollTop = log.scrollHeight;
      await new Promise((drawn) => requestAnimationFrame(drawn));
    }
    return [...log.querySelectorAll('article')].map((article) => {
      const bubble = article.querySelector('[data-confirmed]');
      const body = bubble ?? article.querySelector('p')?.parentElement;
      // a reply without text has only its status line
      const text = body === article ? '' : (body?.textContent ?? '');
      return {
        mine: bubble !== null,
        isOnTheWay: bubble?.getAttribute('data-confirmed') === 'false',
        words: text.replace(/[^\p{L}\p{N}]/gu, ''),
      };
    });
  });

/** The balance below the composer of the open chat, and the composer's text. */
export async function composerOn(page: Page): Promise<{ balance: number; text: string }> {
  const field = page.getByRole('textbox', { name: '说点什么' });
  const text = await field.inputValue({ timeout: ACTION_TIMEOUT_MS });
  const foot =
    (await page
      .getByText(/余额 [\d,]+/)
      .first()
      .textContent({ timeout: ACTION_TIMEOUT_MS })) ?? '';
  return { text, balance: Number(/余额 ([\d,]+)/.exec(foot)?.[1]?.replaceAll(',', '')) };
}

export const rowsOn = async (page: Page): Promise<ShownRow[]> => {
  const links = page.getByRole('list', { name: '聊过的故事' }).locator('a[href*="?chat"]');
  const rows = await links.evaluateAll((found) =>
    found.map((link) => ({ href: (link as HTMLAnchorElement).pathname, text: link.textContent ?? '' })),
  );
  return rows.map(({ href, text }) => ({
    story: href.split('/')[2] ?? '',
    excerpt: wordsOf(text),
    isUnread: text.includes('有新回复'),
  }));
};

/** Number of unsent messages stored on the device, of any author. None may remain there invisibly. */
export const unsentCountOn = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const texts = Object.keys(localStorage).filter((key) => key.startsWith('liaozhai-unsent:'));
    const outboxCount = await new Promise<number>((resolve, reject) => {
      const openRequest = indexedDB.open('liaozhai');
      openRequest.onerror = () => reject(openRequest.error);
      openRequest.onsuccess = () => {
        const database = openRequest.result;
        if (!database.objectStoreNames.contains('outbox')) return resolve(0);
        const countRequest = database.transaction('outbox').objectStore('outbox').count();
        countRequest.onerror = () => reject(countRequest.error);
        countRequest.onsuccess = () => {
          database.close();
          resolve(countRequest.result);
        };
      };
    });
    return texts.length + outboxCount;
  });
