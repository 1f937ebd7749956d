import { floor } from '../../shared/src/build/floor.ts';
import { expect, test } from '../person.ts';
import { Reader } from './reader.ts';

const story = { id: 'nie-xiaoqian', title: '聂小倩' };
const said = '夜深了，门外是谁？';
const log = { role: 'log' };
const composer = { role: 'textbox', name: '说点什么' };
const row = { role: 'link', name: story.title, within: 'list' };
const latestPath = `/api/v1/messages/latest?story_id=${story.id}`;

interface Message {
  role: string;
  status: string;
  body: string;
}

test('the main journey holds in the oldest Chromium that we support', async ({ page, browser, trouble }) => {
  expect(browser.version().split('.')[0]).toBe(floor.chrome);
  const reader = await Reader.at(page);

  await test.step('发现 and a story are read', async () => {
    await reader.open('/explore');
    await reader.appIsUp();
    await reader.taps({ role: 'link', name: story.title });
    await reader.sees({ role: 'heading', name: story.title });
    await reader.taps({ role: 'link', name: '开始聊天' });
    await reader.sees(log);
  });

  await test.step('signing up in the chat', async () => {
    await reader.writes(composer, said);
    await reader.taps({ role: 'button', name: '发送' });
    await reader.taps({ role: 'button', name: '注册（请截图保存）' });
    const byHand = { role: 'button', name: '我已经复制' };
    const isCopied = () => page.evaluate(() => document.body.innerText.includes('已复制到剪贴板'));
    await expect.poll(async () => (await isCopied()) || (await reader.counts(byHand)) > 0).toBe(true);
    if ((await reader.counts(byHand)) > 0) await reader.taps(byHand);
    await reader.misses({ role: 'dialog' });
  });

  await test.step('the reply is streamed, and the message sent once', async () => {
    const lengths = new Set<number>();
    const grow = async () => lengths.add((await reader.sees(log)).text.length).size;
    await expect
      .poll(grow, { message: 'a log seen at four lengths', intervals: [50], timeout: 25_000 })
      .toBeGreaterThan(3);
    const messages = async () => (await reader.asks<{ data: Message[] }>(latestPath)).data;
    const lastIs = async () => (await messages()).at(-1)?.status;
    await expect.poll(lastIs, { timeout: 40_000 }).toBe('completed');
    const reply = (await messages()).at(-1)?.body ?? '';
    await reader.reads(log, reply.match(/[\p{Script=Han}]{4,}/gu)?.at(-1) ?? reply);
    expect((await messages()).filter(({ body }) => body === said)).toHaveLength(1);
  });

  await test.step('a reload and a deep link find the conversation', async () => {
    await page.reload({ waitUntil: 'domcontentloaded' });
    await reader.reads(log, said);
    await reader.open(`/story/${story.id}?chat=1`);
    await reader.reads(log, said);
  });

  await test.step('聊过 has it; its menu opens and closes, and a tap goes on with it', async () => {
    await reader.open('/conversations');
    await reader.appIsUp();
    await reader.taps({ role: 'button', name: `《${story.title}》的更多操作` });
    await reader.sees({ role: 'menuitem', name: '删除' });
    await page.keyboard.press('Escape');
    await reader.misses({ role: 'menuitem' });
    await reader.taps(row);
    await reader.reads(log, said);
    expect((await reader.asks<{ data: unknown[] }>('/api/v1/conversations')).data).toHaveLength(1);
  });

  await test.step('a swipe on the row uncovers 删除', async () => {
    await reader.open('/conversations');
    await reader.appIsUp();
    const { x, y } = await reader.sees(row);
    await reader.swipes([x + 60, y], [x - 120, y]);
    await reader.isInReach({ role: 'button', name: '删除' });
  });

  await test.step('我的 signs in for the day', async () => {
    await reader.open('/my');
    await reader.appIsUp();
    await reader.taps({ role: 'button', name: '签到' });
    await reader.reads({ role: 'main' }, '今日已签到');
    await reader.open('/my/profile');
    await reader.sees({ role: 'radio', name: '头像 3' });
  });

  expect(trouble).toEqual({ violations: [], errors: [] });
});
