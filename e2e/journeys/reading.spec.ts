import type { Page } from '@playwright/test';
import { expect, test } from '../person.ts';
import { seededAccount } from '../seeds.ts';

const story = 'nie-xiaoqian';

test('words of long ago are gone to and read on from, and 回到最新 leads back', async ({ person, page }) => {
  await person.returns(await seededAccount({ story, messages: 140 }));
  await person.opensChat(story);
  const first = await person.read<{ data: { body: string }[] }>(
    `/api/v1/messages/latest?story_id=${story}&before=3&limit=2`,
  );
  const [question = '', reply = ''] = first.data.map(({ body }) => body);
  await page.getByRole('button', { name: '这段对话的更多操作' }).tap();
  await page.getByRole('button', { name: '查找' }).tap();
  await page.getByRole('searchbox', { name: '找说过的话' }).fill(question);
  await page.getByRole('button', { name: '下一处' }).tap();
  // the last match is followed by the first
  const line = person.log().getByRole('article', { name: '我' }).filter({ hasText: question }).first();
  await expect(line).toBeInViewport();
  await expect(person.log().getByText('开篇')).toBeAttached();
  const words = reply.split('\n')[0]?.replaceAll('*', '') ?? '?';
  await expect(person.log().getByText(words).first()).toBeAttached();
  const end = () =>
    person.log().evaluate(({ scrollTop, scrollHeight, clientHeight }) => scrollHeight - scrollTop - clientHeight);
  // more pages load below
  const height = await person.log().evaluate(({ scrollHeight }) => scrollHeight);
  await expect(async () => {
    await person.log().evaluate((log) => log.scrollBy(0, log.clientHeight * 4));
    expect(await person.log().evaluate(({ scrollHeight }) => scrollHeight)).toBeGreaterThan(height * 1.5);
  }).toPass();
  await page.getByRole('button', { name: '回到最新' }).tap();
  await expect.poll(end).toBeLessThan(4);
  const last = (await person.latestOf(story)).data.at(-1)?.body ?? '';
  await expect(
    person
      .log()
      .getByText((last.match(/[\p{Script=Han}]{4,}/u) ?? ['?'])[0])
      .last(),
  ).toBeVisible();
});

test('a passage becomes a picture to keep', async ({ person, page }) => {
  await person.returns(await seededAccount({ story, messages: 4 }));
  await person.opensChat(story);
  await page
    .getByRole('button', { name: /^聂小倩的消息，更多操作/ })
    .last()
    .tap();
  await page.getByRole('button', { name: '生成图片' }).tap();
  const picture = page.getByRole('img', { name: /《聂小倩》的图片/ });
  const size = () => picture.evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight]);
  await expect.poll(async () => (await size())[0]).toBe(750);
  const [, height = 0] = await size();
  await page.getByRole('button', { name: '加上一条' }).tap();
  await expect.poll(async () => (await size())[1]).toBeGreaterThan(height);
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: '保存图片' }).tap();
  expect((await download).suggestedFilename()).toBe('聂小倩.png');
});

/** Sends a message from a device whose chat is closed when the reply ends. */
const saysUnseen = (page: Page, story_id: string) =>
  page.evaluate(async (story_id) => {
    const token = document.cookie.match(/XSRF-TOKEN=([^;]*)/)?.[1] ?? '';
    const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
    const body = JSON.stringify({ story_id, body: '灯下又见面了', client_id: crypto.randomUUID() });
    const answer = await fetch('/api/v1/messages', {
      method: 'POST',
      headers: { ...headers, 'X-XSRF-TOKEN': decodeURIComponent(token) },
      body,
    });
    if (!answer.ok) throw new Error(`sending answered ${answer.status}`);
  }, story_id);

test('what is read on one device has no dot on another, and what is put first stands first there', async ({
  person,
  page,
  context,
}) => {
  await person.returns(await seededAccount({ story: [story, 'hua-pi'], messages: 2 }));
  await person.open('/conversations');
  const row = (title: string) => page.getByRole('listitem').filter({ hasText: title });
  await expect(row('聂小倩')).toBeVisible();
  await saysUnseen(page, 'hua-pi');
  await expect(row('画皮').getByText('有新回复')).toBeAttached();
  const elsewhere = person.at(await context.newPage());
  await elsewhere.opensChat('hua-pi');
  await expect(row('画皮').getByText('有新回复')).toHaveCount(0);
  await elsewhere.open('/conversations');
  await elsewhere.page.getByRole('button', { name: '《聂小倩》的更多操作' }).tap();
  await elsewhere.page.getByRole('menuitem', { name: '置顶' }).tap();
  await expect(page.getByRole('listitem').first()).toContainText('聂小倩');
  await expect(row('聂小倩').getByText('已置顶')).toBeAttached();
});
