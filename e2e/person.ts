import { type BrowserContext, type BrowserContextOptions, test as base, expect, type Page } from '@playwright/test';
import { keptHere } from './keptHere.ts';
import { followPages } from './lastSeen.ts';
import { recordTrouble, type Trouble } from './trouble.ts';

/** Waits until the app has replaced the server-rendered page. An earlier tap triggers plain navigation, and its target may be replaced. */
export const appIsUp = (page: Page) => expect(page.locator('[data-first]')).toHaveCount(0);

export interface Account {
  login: string;
  password: string;
  name: string;
}

/** Reports a slow network to the product, so that it waits longer for files on a slow test machine. */
function simulateSlowNetwork() {
  Object.defineProperty(navigator, 'connection', { value: { effectiveType: '2g' } });
}

/** Taps 重试 in a failed pane, unless the pane recovers first. */
export async function triesAgain(page: Page, buttons = page.getByRole('button', { name: '重试' })) {
  const button = buttons.filter({ visible: true }).first();
  await expect(async () => {
    if (await button.isVisible()) await button.click({ timeout: 1000 });
  }).toPass();
}

/** Runs in every page. */
function noteToasts() {
  const texts: string[] = [];
  Reflect.set(globalThis, '__told', texts);
  new MutationObserver(() => {
    for (const { textContent } of document.querySelectorAll('section[aria-label="提示"] > div > span'))
      if (textContent && !texts.includes(textContent)) texts.push(textContent);
  }).observe(document, { childList: true, subtree: true, characterData: true });
}

/** Records toasts in every page, because a busy machine may check only after they have disappeared. */
const recordToasts = (context: BrowserContext) => context.addInitScript(noteToasts);

/** Texts of all toasts shown in this document, including those that have disappeared. */
export const toldBy = (page: Page): Promise<string[]> =>
  page.evaluate(() => (Reflect.get(globalThis, '__told') as string[] | undefined) ?? []);

/** Holds back requests to these addresses until the returned function is called. */
export async function holdBack(
  from: Page | BrowserContext,
  addresses: string | RegExp | ((address: URL) => boolean),
): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await from.route(addresses, async (route) => {
    await released;
    // the page may be closed
    await route.fallback().catch(() => undefined);
  });
  return release;
}

/** Actions of a person in the app, in terms of what they see. */
export class Person {
  /** Last words said in a chat. */
  private said = '';

  constructor(
    readonly page: Page,
    readonly trouble: Trouble,
  ) {}

  async open(path: string) {
    // a hanging preload would block the load event forever
    await this.page.goto(path, { waitUntil: 'domcontentloaded' });
  }

  popup() {
    return this.page.getByRole('dialog').filter({ has: this.page.locator('input[name="password"]') });
  }

  /** Registers with the values that the open popup suggests, and waits until it closes. */
  async register(): Promise<Account> {
    const popup = this.popup();
    await expect(popup).toBeVisible();
    const value = (name: string) => popup.locator(`input[name="${name}"]`).inputValue();
    const account = { name: await value('name'), login: await value('login'), password: await value('password') };
    await popup.getByRole('button', { name: '注册（请截图保存）' }).click();
    await this.dismissCopyDialog();
    await expect(popup).toBeHidden();
    return account;
  }

  /** Closes the dialog with the credentials, which appears if the clipboard is unavailable. */
  async dismissCopyDialog() {
    const manual = this.page.getByRole('button', { name: '我已经复制' });
    const isCopied = async () => (await toldBy(this.page)).includes('账号密码已复制到剪贴板');
    await expect.poll(async () => (await isCopied()) || manual.isVisible()).toBe(true);
    if (await manual.isVisible()) await manual.click();
  }

  async signIn({ login, password }: Pick<Account, 'login' | 'password'>) {
    const popup = this.popup();
    await expect(popup).toBeVisible();
    const nameField = popup.locator('input[name="name"]');
    if (await nameField.isVisible()) await popup.getByRole('button', { name: /登录/ }).first().click();
    await popup.locator('input[name="login"]').fill(login);
    await popup.locator('input[name="password"]').fill(password);
    await popup.getByRole('button', { name: '登录', exact: true }).click();
    await expect(popup).toBeHidden();
  }

  async joins(): Promise<Account> {
    await this.open('/my');
    await this.page
      .getByRole('button', { name: /登录|注册/ })
      .first()
      .click();
    return this.register();
  }

  /** Restores the session and `user-store` of a known account, as on a device where it has signed in before. */
  async returns({ login, password }: Pick<Account, 'login' | 'password'>) {
    const { request } = this.page.context();
    await request.get('/sanctum/csrf-cookie');
    const token = (await this.page.context().cookies()).find(({ name }) => name === 'XSRF-TOKEN')?.value ?? '';
    const headers = { Accept: 'application/json', 'X-XSRF-TOKEN': decodeURIComponent(token) };
    const signIn = () => request.post('/api/v1/login', { data: { login, password }, headers });
    let answer = await signIn();
    const isBusy = async () => {
      answer = await signIn();
      return answer.status() === 503;
    };
    // another test may be seeding the database: 503 with Retry-After, which a page follows as well
    if (answer.status() === 503) await expect.poll(isBusy, 'the database stays busy').toBe(false);
    if (!answer.ok()) throw new Error(`signing in answered ${answer.status()}: ${await answer.text()}`);
    const { user } = (await answer.json()) as { user: { id: string } };
    await this.open('/manifest.webmanifest');
    await this.page.evaluate((stored) => {
      localStorage.setItem('user-store', JSON.stringify(stored));
      localStorage.setItem('liaozhai-owner', stored.id);
    }, user);
  }

  async opensChat(story = 'nie-xiaoqian') {
    await this.open(`/story/${story}?chat=1`);
    await expect(this.log()).toBeVisible();
  }

  /** Waits until the open chat has joined its channel and caught up. From then on it sends no request unprompted. */
  async hasCaughtUp() {
    await this.page.waitForFunction(() => {
      const calls = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      const socketAuth = calls.find(({ name }) => name.endsWith('/broadcasting/auth'));
      const isAfter = ({ name, startTime }: PerformanceResourceTiming) =>
        socketAuth !== undefined && startTime >= socketAuth.responseEnd && name.includes('/messages/latest');
      return calls.some((call) => isAfter(call) && call.responseEnd > 0);
    });
  }

  /** Waits until every initial request of the page is answered, including the socket's authorization. */
  async isSettled() {
    await this.page.waitForFunction(() =>
      performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/broadcasting/auth')),
    );
    await this.page.waitForLoadState('networkidle');
  }

  /** Ends the session while no page of the app is open to notice. */
  async losesSession() {
    await this.open('/manifest.webmanifest');
    await this.page.context().clearCookies();
  }

  /** The same person in another tab. */
  at(page: Page): Person {
    return new Person(page, this.trouble);
  }

  /** Sends a GET request to the API from the page. */
  read<Answer>(path: string): Promise<Answer> {
    return this.page.evaluate(
      async (url) => (await fetch(url, { headers: { Accept: 'application/json' } })).json(),
      path,
    );
  }

  /** Everything stored for the app on this device, as one text. */
  kept(): Promise<string> {
    return this.page.evaluate(keptHere);
  }

  async openFirstStory() {
    await this.open('/explore');
    await appIsUp(this.page);
    await this.page.locator('a[href^="/story/"]:not([href*="chat="])').first().click();
    await expect(this.page).toHaveURL(/\/story\//);
  }

  async openChat() {
    await this.page
      .getByRole('link', { name: /(开始|继续|进入)聊天/ })
      .or(this.page.getByRole('button', { name: /(开始|继续|进入)聊天/ }))
      .first()
      .click();
    await expect(this.log()).toBeVisible();
  }

  log() {
    return this.page.getByRole('log');
  }

  /** Latest messages of the open story's conversation on the server. */
  latest() {
    return this.latestOf(new URL(this.page.url()).pathname.split('/')[2] ?? '');
  }

  async latestOf(story: string): Promise<{ data: { role: string; status: string; body: string }[] }> {
    return this.read(`/api/v1/messages/latest?story_id=${story}`);
  }

  async latestStatus(): Promise<string> {
    const last = (await this.latest()).data.at(-1);
    return last?.role === 'assistant' ? last.status : 'none';
  }

  /** Waits until the reply to the last words said, if any, is complete on the server and visible on the page. */
  async replied() {
    const isReceived = async () => (await this.latest()).data.some(({ body }) => body === this.said);
    if (this.said) await expect.poll(isReceived, `the server has ${this.said}`).toBe(true);
    await expect.poll(() => this.latestStatus()).toBe('completed');
    const reply = (await this.latest()).data.at(-1)?.body ?? '';
    const words = reply.match(/[\p{Script=Han}]{4,}/u)?.[0] ?? '';
    await expect(this.log().getByText(words).last()).toBeVisible();
  }

  /** Waits until a toast with this text was shown, even if it has disappeared. */
  async isTold(text: string | RegExp) {
    await expect.poll(() => toldBy(this.page)).toContainEqual(expect.stringMatching(text));
  }

  async says(text: string) {
    this.said = text;
    await this.page.getByRole('textbox').last().fill(text);
    await this.page.getByRole('button', { name: '发送', exact: true }).click();
  }
}

interface Options {
  /** Uses the time limit of a fast network for remotes' files, 2.5 s instead of 15 s. For tests of slow files. */
  judgesHangs: boolean;
}

interface Fixtures {
  person: Person;
  trouble: Trouble;
  /** Opens another browser context, monitored like the test's own and closed with it. */
  anotherBrowser(options?: BrowserContextOptions): Promise<BrowserContext>;
}

async function watch(context: BrowserContext, trouble: Trouble, judgesHangs: boolean) {
  await recordTrouble(context, trouble);
  await recordToasts(context);
  if (!judgesHangs) await context.addInitScript(simulateSlowNetwork);
}

export const test = base.extend<Options & Fixtures>({
  judgesHangs: [false, { option: true }],
  // automatic, so that every journey fails on a violation
  trouble: [
    async ({ context, judgesHangs }, use, info) => {
      const trouble: Trouble = { violations: [], errors: [] };
      await watch(context, trouble, judgesHangs);
      const describePages = followPages(context);
      await use(trouble);
      const pageStates = info.status !== info.expectedStatus && (await describePages());
      expect(trouble.violations, 'sec.csp-zero: policy violations').toEqual([]);
      if (pageStates) throw new Error(`when it had failed:\n${pageStates}`);
    },
    { auto: true },
  ],
  anotherBrowser: async ({ browser, trouble, judgesHangs }, use) => {
    const contexts: BrowserContext[] = [];
    await use(async (options) => {
      const context = await browser.newContext(options);
      contexts.push(context);
      await watch(context, trouble, judgesHangs);
      return context;
    });
    for (const context of contexts) await context.close();
  },
  person: async ({ page, trouble }, use) => {
    await use(new Person(page, trouble));
  },
});

export { expect };
