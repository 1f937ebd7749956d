import { type ChildProcessByStdio, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Page } from '@playwright/test';
import type { Edition } from './site/edition.ts';
import { repoRoot } from './site/repoRoot.ts';
import type { Site } from './site/site.ts';
import { expect, test } from './site/test.ts';

const good: Edition = { remote: 'account', part: 'my', says: '旧的一版' };
const next: Edition = { remote: 'account', part: 'my', says: '新的一版' };

/** Starts a console on the site's store, as the operator does. Returns the address that signs a manager in. */
async function startConsole({ store, release }: Site): Promise<{ link: string; stop: () => Promise<void> }> {
  const answer: unknown = await release('token', 'create', 'manager');
  const { token } = answer as { token: string };
  const env = { ...process.env, RELEASES_STORE: `file:${store}`, RELEASES_SMOKE: 'off', CONSOLE_PORT: '0' };
  const script = ['host/server/run.mjs', 'releases/console/server/main.ts'];
  const streams: StdioOptions = ['ignore', 'pipe', 'inherit', 'ipc'];
  const child = spawn(process.execPath, script, { cwd: repoRoot, env, stdio: streams }) as ChildProcessByStdio<
    null,
    Readable,
    null
  >;
  const ended = once(child, 'exit');
  const listening = new Promise<string>((resolve) => {
    let said = '';
    child.stdout.on('data', (piece: Buffer) => {
      said += piece.toString();
      const [, origin] = /console listening on (\S+)\n/.exec(said) ?? [];
      if (origin) resolve(origin);
    });
  });
  const origin = await Promise.race([
    listening,
    ended.then(([code]) => Promise.reject(new Error(`the console ended with ${code}`))),
  ]);
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { link: `${origin}/#token=${token}`, stop };
}

const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent);

test('console: a rollback on a phone asks first, reports where the reader looks, and leaves the keyboard in its place', async ({
  site,
  page,
}) => {
  const [older, newer] = [await site.publish(good), await site.publish(next)];
  await site.succeed(older, newer);
  // the console works while everything else is broken
  site.front.breaks(/./, { status: 500 });
  const console = await startConsole(site);
  try {
    await page.goto(console.link);
    await expect(page).toHaveURL(/\/$/);
    const control = page.getByRole('button', { name: '回退 账户' });
    await control.focus();
    await page.keyboard.press('Enter');
    const question = page.getByRole('alertdialog');
    await expect(question).toContainText('账户：');
    await page.keyboard.press('Escape');
    await expect(question).toBeHidden();
    await expect.poll(() => focused(page)).toBe('回退 账户');

    await page.keyboard.press('Enter');
    await page.getByLabel('原因（会写入记录）').fill('封面不见了');
    await page.keyboard.press('Enter');
    const told = page.getByText(/^完成，现在是状态 \d+$/);
    await expect(told).toBeInViewport({ ratio: 1 });
    await expect.poll(() => focused(page)).toBe('回退 账户');
    await expect(page.getByRole('region', { name: '记录' })).toContainText('「封面不见了」');
    expect((await site.release('status')).stable.builds).toContain(older);

    // the result is visible from far down the page, too
    await page
      .getByRole('button', { name: /^回到此状态/ })
      .last()
      .tap();
    await question.getByRole('button', { name: '回退' }).tap();
    await expect(page.getByText(/^完成，现在是状态 \d+$|^没有需要变更的内容$/)).toBeInViewport({ ratio: 1 });
    const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement);
    expect(scrollWidth).toBe(clientWidth);
  } finally {
    await console.stop();
  }
});

test('console: the second half of a double tap confirms nothing, and closes no question', async ({ site, page }) => {
  const [older, newer] = [await site.publish(good), await site.publish(next)];
  await site.succeed(older, newer);
  const console = await startConsole(site);
  const sent: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).pathname));
  const touch = await page.context().newCDPSession(page);
  const begun = Date.now() / 1000;
  /** `seconds` after the start, however slow the machine is. */
  const tap = async (x: number, y: number, seconds: number) => {
    const timestamp = begun + seconds;
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }], timestamp });
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [], timestamp });
  };
  try {
    await page.goto(console.link);
    const control = page.getByRole('button', { name: '回退 账户' });
    const question = page.getByRole('alertdialog');
    const [confirm, cancel] = ['回退', '取消'].map((name) => question.getByRole('button', { name, exact: true }));
    await control.tap();
    for (const [round, under] of [confirm, cancel, null].entries()) {
      const target = await under?.boundingBox();
      await cancel?.tap();
      await expect(question).toBeHidden();
      // moves the control to where the question's button, or its backdrop, will be
      const [left, top] = target ? [target.x, target.y] : [8, 120];
      await control.evaluate((button, at) => Object.assign(button.style, { position: 'fixed', zIndex: '9', ...at }), {
        left: `${left}px`,
        top: `${top}px`,
      });
      await tap(left + 12, top + 12, round);
      await expect(question).toBeVisible();
      await tap(left + 12, top + 12, round + 0.15);
      expect(await cancel?.isVisible(), `tap ${round}`).toBe(true);
    }
    expect(sent).toEqual([]);
    await cancel?.tap();
    await expect(question).toBeHidden();
  } finally {
    await console.stop();
  }
});

test('console: a finger opens no keyboard, a narrow phone loses nothing, a wide window has its parts side by side', async ({
  site,
  page,
}) => {
  const [older, newer] = [await site.publish(good), await site.publish(next)];
  await site.succeed(older, newer);
  const console = await startConsole(site);
  const box = async (name: string) => {
    const found = await page.getByRole('region', { name }).boundingBox();
    if (!found) throw new Error(`${name} is not shown`);
    return found;
  };
  try {
    await page.goto(console.link);
    await page.getByRole('button', { name: '回退 账户' }).tap();
    const dialog = page.getByRole('alertdialog');
    await expect(dialog.getByLabel('原因（会写入记录）')).toBeVisible();
    await expect(dialog.getByLabel('原因（会写入记录）')).not.toBeFocused();
    await dialog.getByRole('button', { name: '取消' }).tap();

    await page.setViewportSize({ width: 320, height: 568 });
    const [channel, settings] = [page.getByLabel('通道'), page.getByRole('link', { name: '设置' })];
    expect((await channel.boundingBox())?.y).toBe((await settings.boundingBox())?.y);
    await page.getByRole('button', { name: '更多：账户' }).first().tap();
    await page.getByRole('menuitem', { name: '与上一版比较' }).tap();
    await expect(dialog).toContainText('一天内');
    const overhang = await dialog.evaluate(({ firstElementChild: panel }) =>
      panel ? panel.scrollWidth - panel.clientWidth : Number.NaN,
    );
    expect(overhang).toBe(0);
    await dialog.getByRole('button', { name: '关闭' }).tap();
    const builds = page.getByRole('region', { name: '构建' });
    const host = builds.getByRole('group').filter({ hasText: 'host' });
    await host.locator('summary').tap();
    const version = await host
      .getByRole('listitem')
      .getByText(/-dev\./)
      .boundingBox();
    expect(version?.height, 'a long version takes one line').toBeLessThan(32);
    await site.release('canary', older, '--percent', '5');
    await page.locator('summary', { hasText: '定时扩大' }).tap();
    const hidden = await page.getByLabel('2. 访客 %').evaluate((field) => field.scrollWidth - field.clientWidth);
    expect(hidden, 'a share of 100 is shown whole').toBe(0);
    await expect(page.getByLabel('2. 访客 %'), 'no arrows cover it in Firefox').toHaveCSS('appearance', 'textfield');
    await site.release('abort');
    await page.setViewportSize({ width: 280, height: 653 });
    const name = await host.locator('summary > span').boundingBox();
    expect(name?.height, 'so does the name next to one').toBeLessThan(32);

    await page.setViewportSize({ width: 320, height: 568 });
    await page.getByRole('region', { name: '记录' }).getByRole('listitem').last().scrollIntoViewIfNeeded();
    await settings.tap();
    await expect(page.getByRole('heading', { name: '冻结期' }), 'settings begin at their top').toBeInViewport();
    await page.locator('summary', { hasText: '新增冻结期' }).tap();
    await page.getByLabel('何时').selectOption('once');
    await page.getByLabel('从').fill('20266-12-24T18:00');
    await page.getByLabel('到').fill('2026-12-25T18:00');
    await page.getByRole('button', { name: '下一步' }).tap();
    await expect(page.getByLabel('从'), 'a year of five digits is refused in its field').toBeFocused();
    await page.locator('summary', { hasText: '新增通知' }).tap();
    await page.getByLabel('地址（https）').fill('https://bots.example/hook');
    await page.getByRole('button', { name: '新增通知' }).tap();
    // by the accessible name that Chromium computes
    await dialog.getByRole('button', { name: '复制' }).tap();
    await expect(dialog.getByRole('button', { name: /^已复制$|^没能复制/ })).toBeVisible();
    await dialog.getByRole('button', { name: '知道了' }).tap();
    await page.getByRole('link', { name: '现在' }).tap();

    await page.setViewportSize({ width: 1280, height: 800 });
    const [live, health, canary] = [await box('正在运行'), await box('健康'), await box('灰度')];
    expect(health.y).toBe(live.y);
    expect(health.x).toBeGreaterThan(live.x + live.width);
    expect(canary.x).toBe(live.x);
    await settings.click();
    expect((await box('双人批准')).y).toBe((await box('冻结期')).y);
  } finally {
    await console.stop();
  }
});
