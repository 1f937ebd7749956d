import type { Page } from '@playwright/test';
import { expect, type Person, test } from '../person.ts';
import { seededAccount } from '../seeds.ts';

const story = 'nie-xiaoqian';

async function comesBackToTheirChat(person: Person) {
  await person.returns(await seededAccount({ balance: 50, story, messages: 2 }));
  await person.opensChat(story);
}

/** Collects the status of every message that the page sends from now on. */
function sendsOf(page: Page): number[] {
  const answers: number[] = [];
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (response.request().method() === 'POST' && pathname === '/api/v1/messages') answers.push(response.status());
  });
  return answers;
}

const balance = async (person: Person) =>
  (await person.read<{ data: { balance: number } }>('/api/v1/user')).data.balance;

test('灵感: each says its price, a tap fills the field, and what is sent is what stood there', async ({
  person,
  page,
}) => {
  await comesBackToTheirChat(person);
  await expect(page.getByText('每条 3 点 · 余额 50 点')).toBeVisible();
  await page.getByRole('button', { name: '灵感 1 点' }).tap();
  const ideas = page.getByRole('region', { name: '灵感' });
  const first = ideas.getByRole('button', { name: /^填入：/ }).first();
  await expect(first).toBeVisible();
  expect(await balance(person)).toBe(49);
  await expect.poll(() => person.kept()).toContain('"status":"ready"');
  // paid for, so they survive a reload
  await page.reload();
  await expect(first).toBeVisible();
  expect(await balance(person)).toBe(49);
  const words = (await first.innerText()).trim();
  await first.tap();
  const field = page.getByRole('textbox', { name: '说点什么' });
  await expect(field).toHaveValue(words);
  await expect(ideas).toBeHidden();
  // requesting them again for the same message is free
  await page.getByRole('button', { name: '灵感 1 点' }).tap();
  await expect(ideas).toBeVisible();
  const sent = sendsOf(page);
  await page.getByRole('button', { name: '发送', exact: true }).tap();
  await expect(field).toHaveValue('');
  await expect(person.log().getByText(words, { exact: true })).toBeVisible();
  await expect(page.getByText('余额 46 点')).toBeVisible();
  await expect(ideas).toBeHidden();
  await expect.poll(() => balance(person)).toBe(46);
  // the first request succeeded: nothing was sent twice
  expect(sent).toEqual([201]);
});

test('灵感: 换一批 says its price, costs it once and brings words that were not there before', async ({
  person,
  page,
}) => {
  await comesBackToTheirChat(person);
  await page.getByRole('button', { name: '灵感 1 点' }).tap();
  const ideas = page.getByRole('region', { name: '灵感' });
  const offered = () => ideas.getByRole('button', { name: /^填入：/ }).allInnerTexts();
  const others = page.getByRole('button', { name: '换一批 1 点' });
  await expect(others).toBeVisible();
  const before = await offered();
  await others.tap();
  await expect
    .poll(async () => (await offered()).filter((words) => !before.includes(words)).length)
    .toBe(before.length);
  expect(await balance(person)).toBe(48);
  await expect(page.getByText('余额 48 点')).toBeVisible();
});

test('灵感: the arrow sends an idea as it is and leaves the draft alone', async ({ person, page }) => {
  await comesBackToTheirChat(person);
  const field = page.getByRole('textbox', { name: '说点什么' });
  await field.fill('我自己的话');
  await page.getByRole('button', { name: /^灵感/ }).tap();
  const arrow = page.getByRole('button', { name: /^直接发送：/ }).last();
  const words = (await arrow.getAttribute('aria-label'))?.replace('直接发送：', '') ?? '';
  await arrow.tap();
  await expect(person.log().getByText(words, { exact: true })).toBeVisible();
  await expect(field).toHaveValue('我自己的话');
});

test('继续: the text goes on in the same message and costs its price once', async ({ person, page }) => {
  await comesBackToTheirChat(person);
  const replies = person
    .log()
    .getByRole('article')
    .filter({ hasNot: page.locator('[data-confirmed]') });
  await expect(replies).toHaveCount(1);
  const before = (await person.latest()).data.at(-1);
  const more = page.getByRole('button', { name: '继续 1 点' });
  await more.dblclick();
  await expect(more).toBeDisabled();
  // it was completed before the tap as well
  const completed = async () => {
    const last = (await person.latest()).data.at(-1);
    return last?.status === 'completed' ? last.body.length : 0;
  };
  await expect.poll(completed).toBeGreaterThan(before?.body.length ?? 0);
  const after = (await person.latest()).data.at(-1);
  expect(after?.body.startsWith(before?.body ?? '?')).toBe(true);
  await expect(replies).toHaveCount(1);
  const end = after?.body.trim().slice(-6) ?? '?';
  await expect(replies.first()).toContainText(end.replaceAll(/[*“”]/g, ''));
  expect(await balance(person)).toBe(49);
  await expect(page.getByText('余额 49 点')).toBeVisible();
});

test('without enough points 灵感 costs nothing and leads to what brings them', async ({ person, page }) => {
  await person.returns(await seededAccount({ balance: 0, story, messages: 2 }));
  await person.opensChat(story);
  await page.getByRole('button', { name: /^灵感/ }).tap();
  const ways = page.getByRole('dialog', { name: '点数不够' });
  await expect(ways.getByText(/这一步要 1 点，你还有 0 点/)).toBeVisible();
  await expect(ways.getByRole('link', { name: /每日签到/ })).toBeVisible();
  await ways.getByRole('link', { name: /去充值/ }).tap();
  await expect(page).toHaveURL('/my/wallet/recharge');
  await page.goBack();
  await expect(ways).toBeHidden();
  await expect(person.log()).toBeVisible();
});

test('a step back directly after a tap in the sheet shows the chat again', async ({ person, page }) => {
  await person.returns(await seededAccount({ balance: 0, story, messages: 2 }));
  await person.opensChat(story);
  await page.getByRole('button', { name: /^灵感/ }).tap();
  const link = page.getByRole('dialog', { name: '点数不够' }).getByRole('link', { name: /去充值/ });
  // in one task, so that the step arrives before the sheet has closed
  await link.evaluate((element: HTMLElement) => {
    element.click();
    history.back();
  });
  await expect(person.log()).toBeVisible();
  await expect(page).toHaveURL(`/story/${story}?chat=1`);
});
