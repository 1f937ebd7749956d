import { outboxStore, session, store } from '@liaozhai/shared/runtime';
import { onTestEnd, type RecordedRequest, screen, waitFor, within } from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { latestDto, messageDto, messageEvent, storyDto } from '../fixtures';
import {
  bodyOf,
  field,
  LATEST,
  openChat,
  replyLine,
  SEND,
  secondSentDto,
  sendButton,
  sends,
  userLine,
  write,
} from '../testing/chatting';

const poor = { user: { balance: 1, checked_in_today: false, check_in_streak: 1 } };
const waysToPoints = () => screen.findByRole('dialog', { name: '点数不够' });
const refused = (balance: number) => ({
  status: 402,
  body: { message: '余额不足', code: 'insufficient_balance', required: 2, balance },
});

/** Configures the site's rules with the rewards. */
function nameRewards() {
  const config = document.createElement('script');
  config.type = 'application/json';
  config.id = 'liaozhai-config';
  config.textContent = JSON.stringify({
    rules: { suggestionPrice: 5, checkInRewards: [10, 12], inviteReward: { inviter: 50, invitee: 20 } },
  });
  document.body.append(config);
  onTestEnd(() => config.remove());
}

describe('with too few points for a message', () => {
  test('the composer says so before anything is sent, and keeps the words', async () => {
    nameRewards();
    const { user, requests } = openChat({}, poor);
    expect(await screen.findByText('发一条要 2 点，余额 1 点不够')).toBeTruthy();
    await write(user, '谁在门外？');
    const ways = within(await waysToPoints());
    expect(ways.getByText(/这一步要 2 点，你还有 1 点/)).toBeTruthy();
    const leadsTo = (name: RegExp) => ways.getByRole('link', { name }).getAttribute('href');
    expect(leadsTo(/每日签到.*今天可领 12 点/)).toBe('/my');
    expect(leadsTo(/邀请好友.*你得 50 点/)).toBe('/my');
    expect(leadsTo(/去充值/)).toBe('/my/wallet/recharge');
    expect(await field()).toHaveProperty('value', '谁在门外？');
    expect(sends(requests)).toEqual([]);
    expect(await outboxStore.all()).toEqual([]);
  });

  test('a price is written as the balance is', async () => {
    openChat({ 'GET /v1/stories/s-1': storyDto({ price_per_message: 0.1 + 0.2 }) }, { user: { balance: 1234.5 } });
    expect(await screen.findByText('每条 0.3 点 · 余额 1,234.5 点')).toBeTruthy();
  });

  test('what brings them stands open until they are there', async () => {
    const { user, requests } = openChat({ [SEND]: secondSentDto, [LATEST]: latestDto([userLine, replyLine]) }, poor);
    await user.click(await screen.findByRole('button', { name: '获取点数' }));
    await waysToPoints();
    session.userPatched({ balance: 13 });
    await waitFor(() => expect(screen.queryByRole('dialog', { name: '点数不够' })).toBeNull());
    expect(screen.getByText('点数够了，可以继续')).toBeTruthy();
    expect(screen.getByText('每条 2 点 · 余额 13 点')).toBeTruthy();
    await write(user, '谁在门外？');
    await waitFor(() => expect(sends(requests)).toHaveLength(1));
  });

  test('a reader who has checked in today sees so, and is not led there in vain', async () => {
    const { user } = openChat({}, { user: { balance: 1, checked_in_today: true } });
    await user.click(await screen.findByRole('button', { name: '获取点数' }));
    const ways = within(await waysToPoints());
    expect(ways.getByText('今天已经签到，明天再来')).toBeTruthy();
    expect(ways.queryByRole('link', { name: /签到/ })).toBeNull();
  });

  test('a message that waits has its price spoken for', async () => {
    const { user, requests } = openChat(
      { [LATEST]: latestDto([userLine, messageDto({ seq: 2, body: '', status: 'pending' })]) },
      { user: { balance: 3 } },
    );
    await screen.findByText('排队中');
    await write(user, '后来呢？');
    await screen.findByText('等这一段写完就发出');
    expect(await screen.findByText('发一条要 2 点，余额 3 点不够')).toBeTruthy();
    await write(user, '天快亮了');
    await waysToPoints();
    expect(await field()).toHaveProperty('value', '天快亮了');
    expect(sends(requests)).toEqual([]);
  });

  test('灵感 that cannot be paid for leads to points as well', async () => {
    const { user } = openChat({
      [LATEST]: latestDto([userLine, replyLine]),
      'POST /v1/messages/suggestion': refused(1),
    });
    await user.click(await screen.findByRole('button', { name: /^灵感/ }));
    await waysToPoints();
  });

  test('灵感 that the balance does not cover is not ordered', async () => {
    nameRewards();
    const { user, requests } = openChat({ [LATEST]: latestDto([userLine, replyLine]) }, { user: { balance: 4 } });
    await user.click(await screen.findByRole('button', { name: /^灵感/ }));
    await waysToPoints();
    expect(requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  test('a late refusal leaves the sheet that the user has opened', async () => {
    let answer = (_: object) => {};
    const { user } = openChat({
      [LATEST]: latestDto([userLine, replyLine]),
      'POST /v1/messages/suggestion': () => new Promise((resolve) => (answer = resolve)),
    });
    await user.click(await screen.findByRole('button', { name: /^灵感/ }));
    await user.click(await screen.findByRole('button', { name: /聂小倩的消息，更多操作/ }));
    const menu = await screen.findByRole('dialog', { name: '聂小倩的消息' });
    answer(refused(1));
    await waitFor(() => expect(store.getState().toasts.map(({ text }) => text)).toEqual(['余额不足']));
    expect(menu.isConnected).toBe(true);
    expect(screen.queryByRole('dialog', { name: '点数不够' })).toBeNull();
  });
});

test('a refusal that the balance contradicts stays open, says what the server said, and leads to support', async () => {
  const { user } = openChat(
    {
      [LATEST]: latestDto([userLine, replyLine]),
      'POST /v1/messages/suggestion': refused(1),
      'GET /v1/user': { data: { id: 'u-1', balance: 50 } },
    },
    { user: { balance: 50 } },
  );
  await user.click(await screen.findByRole('button', { name: /^灵感/ }));
  const ways = within(await waysToPoints());
  expect(await ways.findByText(/余额不足。现在余额有 50 点，请再试一次/)).toBeTruthy();
  expect(ways.getByRole('link', { name: '联系客服' }).getAttribute('href')).toBe('/my/support');
});

test('messages that the server refused for want of points all go by one tap, in the order written', async () => {
  let balance = 1;
  let seq = 2;
  const { user, live, requests } = openChat({
    [LATEST]: latestDto([userLine, messageDto({ seq: 2, body: '', status: 'pending' })]),
    [SEND]: (request: RecordedRequest) => {
      if (balance < 2) return refused(balance);
      seq += 2;
      const { status, body } = secondSentDto(request);
      const at = { seq: seq - 1, version: seq + 9, id: `m-${seq - 1}` };
      const reply = { ...replyLine, seq, version: seq + 10, id: `m-${seq}` };
      return { status, body: { ...body, message: { ...body.message, ...at }, reply, balance } };
    },
  });
  await screen.findByText('排队中');
  for (const words of ['第一句', '第二句', '第三句']) await write(user, words);
  live.push('message.completed', messageEvent({ ...replyLine, version: 3 }));
  // the server reported the true balance
  expect(await screen.findByText('发一条要 2 点，余额 1 点不够')).toBeTruthy();
  const retry = await screen.findByRole('button', { name: '全部重发（3 条）' });
  expect(screen.getAllByText('余额不足')).toHaveLength(1);
  expect(screen.getAllByText('等前一条发出后再发')).toHaveLength(2);
  const tried = sends(requests).length;
  await user.click(retry);
  await waysToPoints();
  expect(sends(requests)).toHaveLength(tried);
  balance = 50;
  session.userPatched({ balance });
  await waitFor(() => expect(screen.queryByRole('dialog', { name: '点数不够' })).toBeNull());
  await user.click(await screen.findByRole('button', { name: '全部重发（3 条）' }));
  await waitFor(async () => expect(await outboxStore.all()).toEqual([]));
  expect(
    sends(requests)
      .slice(tried)
      .map((request) => bodyOf(request).body),
  ).toEqual(['第一句', '第二句', '第三句']);
  expect(sendButton()).toHaveProperty('disabled', true);
});
