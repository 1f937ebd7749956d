import { test as base, expect, type Page } from '@playwright/test';

/** What a page did that no visitor should ever cause: errors and policy violations. */
export interface Trouble {
  violations: string[];
  errors: string[];
}

async function recordTrouble(page: Page): Promise<Trouble> {
  const trouble: Trouble = { violations: [], errors: [] };
  await page.exposeFunction('__violated', (text: string) => trouble.violations.push(text));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      (globalThis as unknown as { __violated(text: string): void }).__violated(
        `${event.effectiveDirective} ${event.blockedURI} ${event.sample}`,
      );
    });
  });
  page.on('pageerror', (error) => trouble.errors.push(error.message));
  return trouble;
}

export interface Account {
  login: string;
  password: string;
  name: string;
}

/** Things a person does in the app, by what they see. */
export class Person {
  constructor(
    readonly page: Page,
    readonly trouble: Trouble,
  ) {}

  async open(path: string) {
    // a hanging preload keeps the load event waiting for ever
    await this.page.goto(path, { waitUntil: 'domcontentloaded' });
  }

  popup() {
    return this.page.getByRole('dialog').filter({ has: this.page.locator('input[name="password"]') });
  }

  /** Registers in the open popup with the values it filled in, and waits until it closes. */
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

  /** The clipboard may be refused; then the credentials stand in a dialog that only its button closes. */
  async dismissCopyDialog() {
    const copied = this.page.getByText('账号密码已复制到剪贴板');
    const manual = this.page.getByRole('button', { name: '我已经复制' });
    await expect(copied.or(manual).first()).toBeVisible();
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

  /** Opens 我的 and registers from there. */
  async joins(): Promise<Account> {
    await this.open('/my');
    await this.page
      .getByRole('button', { name: /登录|注册/ })
      .first()
      .click();
    return this.register();
  }

  async openFirstStory() {
    await this.open('/explore');
    await this.page.locator('a[href^="/story/"]').first().click();
    await expect(this.page).toHaveURL(/\/story\//);
  }

  async openChat() {
    await this.page
      .getByRole('link', { name: /开始聊天|继续聊天/ })
      .or(this.page.getByRole('button', { name: /开始聊天|继续聊天/ }))
      .first()
      .click();
    await expect(this.log()).toBeVisible();
  }

  log() {
    return this.page.getByRole('log');
  }

  /** What the server has of the open story's conversation. */
  latest(): Promise<{ data: { role: string; status: string; body: string }[] }> {
    return this.page.evaluate(async () => {
      const story = location.pathname.split('/')[2];
      const answer = await fetch(`/api/v1/messages/latest?story_id=${story}`, {
        headers: { Accept: 'application/json' },
      });
      return answer.ok ? answer.json() : { data: [] };
    });
  }

  async latestStatus(): Promise<string> {
    const last = (await this.latest()).data.at(-1);
    return last?.role === 'assistant' ? last.status : 'none';
  }

  /** Waits until the last reply is complete on the server and stands on the page. */
  async replied(timeout = 25_000) {
    await expect.poll(() => this.latestStatus(), { timeout }).toBe('completed');
    const reply = (await this.latest()).data.at(-1)?.body ?? '';
    const words = reply.match(/[\p{Script=Han}]{4,}/u)?.[0] ?? '';
    await expect(this.log().getByText(words).last()).toBeVisible();
  }

  async says(text: string) {
    await this.page.getByRole('textbox').last().fill(text);
    await this.page.getByRole('button', { name: '发送' }).click();
  }
}

export const test = base.extend<{ person: Person }>({
  person: async ({ page }, use) => {
    const trouble = await recordTrouble(page);
    await use(new Person(page, trouble));
    expect(trouble.violations, 'policy violations').toEqual([]);
  },
});

export { expect };
