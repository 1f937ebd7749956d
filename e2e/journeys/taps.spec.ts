import type { Locator, Page } from '@playwright/test';
import { appIsUp, expect, holdBack, test } from '../person.ts';
import { seededAccount } from '../seeds.ts';

/** A finger whose events the browser turns into taps and drags. */
async function fingerOn(page: Page) {
  const touch = await page.context().newCDPSession(page);
  const begun = Date.now() / 1000;
  let afterMs: number | undefined;
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: { x: number; y: number }[]) =>
    touch.send('Input.dispatchTouchEvent', {
      type,
      touchPoints,
      ...(afterMs !== undefined && { timestamp: begun + afterMs / 1000 }),
    });
  return {
    /** Time of the next events, in ms after the start, however slow the machine is. */
    at(milliseconds: number) {
      afterMs = milliseconds;
    },
    down: (x: number, y: number) => send('touchStart', [{ x, y }]),
    moveTo: (x: number, y: number) => send('touchMove', [{ x, y }]),
    up: () => send('touchEnd', []),
  };
}

async function middleOf(locator: Locator): Promise<[x: number, y: number]> {
  const box = await locator.boundingBox();
  if (!box) throw new Error('nothing to put a finger on');
  return [box.x + box.width / 2, box.y + box.height / 2];
}

test('a tap opens the chat that the finger was put on, though another has come there', async ({
  person,
  page,
  context,
}) => {
  await person.returns(await seededAccount({ story: ['nie-xiaoqian', 'hua-pi'], messages: 2 }));
  await person.open('/conversations');
  await appIsUp(page);
  const links = page.getByRole('listitem').getByRole('link');
  const [upper, lower] = await Promise.all([links.first(), links.last()].map((link) => link.getAttribute('href')));
  const elsewhere = person.at(await context.newPage());
  await elsewhere.opensChat(lower?.match(/story\/([^?]+)/)?.[1]);
  await page.bringToFront();
  const finger = await fingerOn(page);
  await finger.down(...(await middleOf(links.first())));
  await elsewhere.says('灯下又见面了');
  await expect(links.first()).toHaveAttribute('href', lower ?? '');
  await finger.up();
  await expect(page).toHaveURL(upper ?? '');
});

test('the second half of a double tap buys nothing that has come under the finger', async ({ person, page }) => {
  await person.returns(await seededAccount({ story: 'nie-xiaoqian', messages: 20 }));
  await person.opensChat('nie-xiaoqian');
  const ordered: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && ordered.push(new URL(request.url()).pathname));
  await person.hasCaughtUp();
  const [x, middle] = await middleOf(page.getByRole('button', { name: /^换一种说法/ }));
  const y = middle + 10;
  await page.getByRole('button', { name: /^灵感/ }).tap();
  const under = () =>
    page.evaluate((at) => document.elementFromPoint(at.x, at.y)?.closest('button')?.ariaLabel, { x, y });
  await expect.poll(under).toMatch(/^填入/);
  const finger = await fingerOn(page);
  const tap = async () => {
    await finger.down(x, y);
    await finger.up();
  };
  finger.at(0);
  await tap();
  await expect.poll(under).toBe(null);
  finger.at(150);
  await tap();
  await expect(page.getByRole('textbox', { name: '说点什么' })).not.toHaveValue('');
  await page.getByRole('button', { name: /^灵感/ }).tap();
  await expect.poll(under).toMatch(/^填入/);
  expect(ordered.filter((path) => path.startsWith('/api/v1/messages'))).toEqual(['/api/v1/messages/suggestion']);
});

/** Records the names of the buttons that receive a click from now on. */
async function recordClicks(page: Page): Promise<() => Promise<string[]>> {
  const names = await page.evaluateHandle(() => {
    const clicked: string[] = [];
    addEventListener('click', ({ target }) => {
      const name = (target as Element).closest('button')?.ariaLabel;
      if (name) clicked.push(name);
    });
    return clicked;
  });
  return () => names.jsonValue();
}

test('a double tap on 返回 leaves one screen, and so does a double click', async ({ person, page }) => {
  await person.openFirstStory();
  await person.openChat();
  const clicks = await recordClicks(page);
  const bar = page.getByRole('button', { name: '返回' }).filter({ visible: true });
  const [x, y] = await middleOf(bar);
  const finger = await fingerOn(page);
  const tap = async (ms: number) => {
    finger.at(ms);
    await finger.down(x, y);
    await finger.up();
  };
  for (const ms of [0, 150]) {
    await tap(ms);
    await expect(page).toHaveURL(/\/story\/[^?]+$/);
    await expect(bar).toBeVisible();
  }
  expect(await clicks()).toEqual(['返回']);
  await person.openChat();
  for (const clickCount of [1, 2]) {
    await page.mouse.move(x, y);
    await page.mouse.down({ clickCount });
    await page.mouse.up({ clickCount });
    await expect(page).toHaveURL(/\/story\/[^?]+$/);
    await expect(bar).toBeVisible();
  }
  // long after the double click
  await tap(60_000);
  await expect(page).toHaveURL('/explore');
  expect(await clicks()).toEqual(['返回', '返回', '返回']);
});

test('a double tap next to a menu closes it, and opens nothing below', async ({ person, page }) => {
  await person.returns(await seededAccount({ story: ['nie-xiaoqian', 'hua-pi'], messages: 2 }));
  await person.open('/conversations');
  await appIsUp(page);
  const [x, y] = await middleOf(page.getByRole('listitem').first().getByRole('link'));
  await page.getByRole('button', { name: '《聂小倩》的更多操作' }).tap();
  const menu = page.getByRole('dialog', { name: '《聂小倩》的更多操作' });
  await expect(menu).toBeVisible();
  const finger = await fingerOn(page);
  for (const ms of [0, 150]) {
    finger.at(ms);
    await finger.down(x, y);
    await finger.up();
    await expect(menu).toBeHidden();
  }
  // the chat below would have no tabs
  await page.getByRole('link', { name: '我的' }).tap();
  await expect(page).toHaveURL('/my');
});

test('a finger on 撤销 has all the time it takes', async ({ person, page }) => {
  await page.clock.install();
  await person.returns(await seededAccount({ story: 'nie-xiaoqian', messages: 2 }));
  await person.open('/conversations');
  await page.getByRole('button', { name: '《聂小倩》的更多操作' }).tap();
  await page.getByRole('menuitem', { name: '删除' }).tap();
  const row = page.getByRole('listitem').filter({ hasText: '聂小倩' });
  await expect(row).toHaveCount(0);
  const undo = page.getByRole('button', { name: '撤销' });
  const finger = await fingerOn(page);
  await finger.down(...(await middleOf(undo)));
  await page.clock.runFor(20_000);
  await finger.up();
  await expect(row).toBeVisible();
});

test('a pull that began on the place of a list refreshes the list that has come', async ({ person, page }) => {
  await person.returns(await seededAccount({ story: 'nie-xiaoqian', messages: 2 }));
  const letCome = await holdBack(page, '**/api/v1/conversations');
  await person.open('/conversations');
  await appIsUp(page);
  const finger = await fingerOn(page);
  const [x, y] = await middleOf(page.locator('main:visible [data-skeleton] > *').first());
  await finger.down(x, y);
  await finger.moveTo(x, y + 20);
  letCome();
  await expect(page.getByRole('listitem').first()).toBeVisible();
  const refreshed = page.waitForRequest('**/api/v1/conversations');
  for (const moved of [60, 120, 180, 240]) await finger.moveTo(x, y + moved);
  await finger.up();
  await refreshed;
});
