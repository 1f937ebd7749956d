import type { Page } from '@playwright/test';
import { expect, holdBack, type Person, test } from '../person.ts';
import { seededAccount } from '../seeds.ts';

const story = 'nie-xiaoqian';
const row = (page: Page, title = '聂小倩') => page.getByRole('listitem').filter({ hasText: title });

async function opensTheirList(person: Person) {
  await person.returns(await seededAccount({ story, messages: 4 }));
  await person.open('/conversations');
  await expect(row(person.page)).toBeVisible();
}

const kept = async (person: Person) => (await person.read<{ data: unknown[] }>('/api/v1/conversations')).data.length;

test('an anonymous visitor learns what 聊过 is and signs in from there', async ({ person, page }) => {
  const account = await seededAccount({ story, messages: 2 });
  await person.open('/conversations');
  await expect(page.getByText('聊过的故事会留在这里')).toBeVisible();
  await page.getByRole('button', { name: '登录' }).tap();
  await person.signIn(account);
  await expect(row(page)).toBeVisible();
});

test('the rows wait for nothing but their answer: the file that carries further requests may come later', async ({
  person,
  page,
}) => {
  await person.returns(await seededAccount({ story, messages: 4 }));
  const letCome = await holdBack(page, /\/client\.\w+\.js/);
  await person.open('/conversations');
  await expect(row(page)).toBeVisible();
  letCome();
  await row(page).getByRole('link').tap();
  await expect(person.log()).toBeVisible();
});

test('who has not chatted yet is led to 发现', async ({ person, page }) => {
  await person.returns(await seededAccount({}));
  await person.open('/conversations');
  await page.getByRole('link', { name: '去发现' }).tap();
  await expect(page).toHaveURL('/explore');
});

test('a row shows the last words, follows what is said elsewhere, and leads to the chat', async ({
  person,
  page,
  context,
}) => {
  await opensTheirList(person);
  const last = (await person.latestOf(story)).data.at(-1)?.body ?? '';
  await expect(row(page)).toContainText((last.match(/[\p{Script=Han}]{4,}/u) ?? ['?'])[0]);
  await expect(row(page).locator('time')).toBeVisible();
  const elsewhere = person.at(await context.newPage());
  await elsewhere.opensChat(story);
  await elsewhere.says('灯下又见面了');
  await expect(row(page)).toContainText('我：灯下又见面了');
  // followed by the reply
  await expect(row(page)).not.toContainText('我：');
  await elsewhere.page.close();
  await row(page).getByRole('link').tap();
  await expect(person.log().getByText('灯下又见面了', { exact: true })).toBeVisible();
});

/** Waits until swiping works: its code loads after the rows. */
const canBeDragged = (page: Page) => expect(page.locator('[data-swipe-row]').first()).toBeAttached();

/** Drags a row to the left and pauses before lifting the finger, because a flick would swallow the next tap. */
async function swipe(page: Page) {
  await canBeDragged(page);
  const box = await row(page).boundingBox();
  if (!box) throw new Error('no row to swipe');
  const touch = await page.context().newCDPSession(page);
  const point = (moved: number) => [{ x: box.x + box.width * 0.8 - moved, y: box.y + box.height / 2 }];
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: point(0) });
  for (const moved of [20, 40, 60, 80, 100, 110, 115, 118, 119, 120, 120, 120]) {
    await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: point(moved) });
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

/** Stops the clock, so that a slow machine does not use up the six seconds to undo. */
const timeStops = async (page: Page) => page.clock.pauseAt(await page.evaluate(() => Date.now() + 20_000));

test('a swipe bares 删除; undone in time the conversation is as it was', async ({ person, page }) => {
  await page.clock.install();
  await opensTheirList(person);
  await swipe(page);
  await timeStops(page);
  await row(page).getByRole('button', { name: '删除', exact: true }).tap();
  await expect(row(page)).toHaveCount(0);
  await page.getByRole('button', { name: '撤销' }).tap();
  await expect(row(page)).toBeVisible();
  await expect(page.getByText('已删除《聂小倩》的对话')).toBeHidden();
  expect(await kept(person)).toBe(1);
});

test('a press that began before drags are recognised is a tap all the same', async ({ person, page }) => {
  const letCome = await holdBack(page, /\/gestures\.\w+\.js/);
  await opensTheirList(person);
  await page.getByRole('button', { name: '《聂小倩》的更多操作' }).hover();
  await page.mouse.down();
  letCome();
  await canBeDragged(page);
  await page.mouse.up();
  await expect(page.getByRole('menuitem', { name: '删除' })).toBeVisible();
});

test('while a row is open a tap on another closes it and does nothing else', async ({ person, page }) => {
  await person.returns(await seededAccount({ story: [story, 'hua-pi'], messages: 2 }));
  await person.open('/conversations');
  await expect(row(page)).toBeVisible();
  const action = row(page).getByText('删除', { exact: true }).first();
  const other = row(page, '画皮');
  await swipe(page);
  await expect(action).not.toHaveAttribute('inert');
  await other.getByRole('link').tap();
  await expect(action).toHaveAttribute('inert');
  await swipe(page);
  await expect(action).not.toHaveAttribute('inert');
  await other.getByRole('button', { name: '《画皮》的更多操作' }).tap();
  await expect(action).toHaveAttribute('inert');
  await expect(page.getByRole('menuitem')).toBeHidden();
  await expect(page).toHaveURL('/conversations');
  await other.getByRole('link').tap();
  await expect(page).toHaveURL('/story/hua-pi?chat=1');
});

/** Records the height of a story's row in every frame from now on. */
const watchHeights = (page: Page, title: string) =>
  page.evaluate((name) => {
    const heights: number[] = [];
    Reflect.set(globalThis, '__heights', heights);
    const look = () => {
      const item = [...document.querySelectorAll('li')].find((each) => each.textContent.includes(name));
      heights.push(Math.round(item?.getBoundingClientRect().height ?? 0));
      requestAnimationFrame(look);
    };
    look();
  }, title);
const seenHeights = (page: Page) => page.evaluate(() => Reflect.get(globalThis, '__heights') as number[]);
const isBetween = (whole: number) => (height: number) => height > 0 && height < whole;

async function deletesByMenu(page: Page, title: string) {
  await page.getByRole('button', { name: `《${title}》的更多操作` }).tap();
  await page.getByRole('menuitem', { name: '删除' }).tap();
}

for (const reducedMotion of ['no-preference', 'reduce'] as const) {
  const moves = reducedMotion === 'no-preference';
  test(`a deleted row ${moves ? 'collapses' : 'is gone immediately for reduced motion'}, and 撤销 puts it back in its place`, async ({
    person,
    page,
  }) => {
    await page.emulateMedia({ reducedMotion });
    await person.returns(await seededAccount({ story: [story, 'hua-pi', 'ying-ning'], messages: 2 }));
    await person.open('/conversations');
    await expect(row(page)).toBeVisible();
    const order = () =>
      page
        .getByRole('listitem')
        .getByRole('link')
        .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).pathname));
    const before = await order();
    const [, middle = ''] = before;
    const title = (await page.locator(`a[href^="${middle}"] span span`).first().textContent()) ?? '';
    const whole = Math.round((await row(page, title).boundingBox())?.height ?? 0);
    await watchHeights(page, title);
    await deletesByMenu(page, title);
    await expect(row(page, title)).toHaveCount(0);
    expect((await seenHeights(page)).some(isBetween(whole))).toBe(moves);
    await watchHeights(page, title);
    await page.getByRole('button', { name: '撤销' }).tap();
    await expect(row(page, title)).toBeVisible();
    await expect.poll(async () => (await seenHeights(page)).at(-1)).toBe(whole);
    expect((await seenHeights(page)).some(isBetween(whole))).toBe(moves);
    expect(await order()).toEqual(before);
  });
}

test('a mouse draws the row open, and a click on it closes it again without opening the chat', async ({
  person,
  page,
}) => {
  await opensTheirList(person);
  await canBeDragged(page);
  const box = await row(page).boundingBox();
  if (!box) throw new Error('no row to drag');
  const [x, y] = [box.x + box.width * 0.7, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 110, y, { steps: 12 });
  await page.mouse.up();
  const action = row(page).getByText('删除', { exact: true }).first();
  await expect(action).not.toHaveAttribute('inert');
  await page.mouse.click(box.x + box.width * 0.3, y);
  await expect(action).toHaveAttribute('inert');
  await expect(page).toHaveURL('/conversations');
});

test('deleted by ⋯ it is gone for good once the time to undo is over', async ({ person, page }) => {
  await page.clock.install();
  await opensTheirList(person);
  await row(page).getByRole('button', { name: '《聂小倩》的更多操作' }).tap();
  await timeStops(page);
  await page.getByRole('menuitem', { name: '删除' }).tap();
  await expect(row(page)).toHaveCount(0);
  await expect(page.getByRole('button', { name: '撤销' })).toBeVisible();
  expect(await kept(person)).toBe(1);
  await page.clock.resume();
  await expect.poll(() => kept(person)).toBe(0);
  await expect(page.getByRole('button', { name: '撤销' })).toBeHidden();
  await expect(page.getByText('还没有聊过')).toBeVisible();
});

test('the ⋯ menu closes by a tap outside and by going back, and touches no row', async ({ person, page }) => {
  await opensTheirList(person);
  const more = row(page).getByRole('button', { name: '《聂小倩》的更多操作' });
  const item = page.getByRole('menuitem', { name: '删除' });
  await more.tap();
  await expect(item).toBeVisible();
  const box = await row(page).boundingBox();
  await page.touchscreen.tap((box?.x ?? 0) + 100, (box?.y ?? 0) + 40);
  await expect(item).toBeHidden();
  await more.tap();
  await expect(item).toBeVisible();
  await page.goBack();
  await expect(item).toBeHidden();
  await expect(page).toHaveURL('/conversations');
  await expect(row(page)).toBeVisible();
});

test('leaving the page carries a deletion out', async ({ person, page }) => {
  await opensTheirList(person);
  await row(page).getByRole('button', { name: '《聂小倩》的更多操作' }).tap();
  await page.getByRole('menuitem', { name: '删除' }).tap();
  await expect(row(page)).toHaveCount(0);
  await person.open('/manifest.webmanifest');
  // the page that counts the six seconds is gone
  await expect.poll(() => kept(person)).toBe(0);
  await page.goBack();
  await expect(page.getByText('还没有聊过')).toBeVisible();
});

test('a story is begun again next to the first conversation, and each continues', async ({ person, page }) => {
  await person.returns(await seededAccount({ story, messages: 4 }));
  const before = ((await person.latestOf(story)).data[0]?.body ?? '').replaceAll('*', '');
  await person.opensChat(story);
  const beginsAnother = async () => {
    await page.getByRole('button', { name: '这段对话的更多操作' }).tap();
    await page.getByRole('button', { name: /几段对话/ }).tap();
    await page.getByRole('button', { name: '另开一段' }).tap();
    await expect(page.getByText('从头开始了，前一段留在「聊过」里')).toBeVisible();
    await expect(person.log().getByText(before)).toHaveCount(0);
  };
  await beginsAnother();
  await page.getByRole('button', { name: '回到前一段' }).tap();
  // at its end, where the reader left it, without counting as new messages
  await expect(person.log().getByRole('article').last()).toBeInViewport();
  await expect(page.getByRole('button', { name: '新消息' })).toHaveCount(0);
  await beginsAnother();
  await person.says('这一回我不进门');
  await expect(person.log().getByText('这一回我不进门')).toBeVisible();
  await page.reload();
  await expect(person.log().getByText('这一回我不进门')).toBeVisible();
  await person.open('/conversations');
  await expect(row(page)).toHaveCount(2);
  await page.getByRole('link', { name: /第 1 段/ }).tap();
  await expect(person.log().getByText(before)).toBeVisible();
  await expect(person.log().getByText('这一回我不进门')).toHaveCount(0);
});
