import { errorText } from '@liaozhai/shared/format';
import { outboxStore, capabilities as served, store } from '@liaozhai/shared/runtime';
import { type RecordedRequest, screen, waitFor, within } from '@liaozhai/shared/testing';
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
  sends,
  userLine,
  write,
} from '../testing/chatting';
import { texts } from '../texts';

// The page was opened at 2 points a message, 1 for 继续 and 灵感; the server's prices are 7, 4 and 5 by now.

const EDIT = 'POST /v1/messages/m-1/edit';
const rules = { story_prices: { short: 7, long: 7 }, continue_price: 4, suggestion_price: 5 };
const capabilities = ['messages.price', 'messages.regenerate', 'messages.edit'] as const;
const config = { rules: { continuePrice: 1, suggestionPrice: 1 } };

const said = () => store.getState().toasts.map(({ text }) => text);

type Answer = (request: RecordedRequest) => unknown;

/** Refuses purchases above the price that the user was shown. */
const at =
  (price: number, answer: Answer): Answer =>
  (request) =>
    (request.body as { price?: number }).price === price
      ? answer(request)
      : { status: 409, body: { message: '价格变了', code: 'price_changed', price, rules } };

const retold = messageDto({ seq: 2, revision: 2, version: 10, body: '', status: 'pending' });
const running = { status: 202, body: { message: retold, balance: 90 } };
const edited = (request: RecordedRequest) => ({
  status: 201,
  body: {
    message: { ...userLine, version: 10, revision: 2, body: bodyOf(request).body },
    reply: { ...retold, version: 11 },
  },
});

function open(options: Parameters<typeof openChat>[1] = {}) {
  let opened = 0;
  return openChat(
    {
      'GET /v1/stories/s-1': () => storyDto({ price_per_message: opened++ === 0 ? 2 : 7 }),
      [LATEST]: latestDto([userLine, replyLine]),
      [SEND]: at(7, secondSentDto as Answer),
      [EDIT]: at(7, edited),
      'GET /v1/capabilities': { data: [...capabilities], rules },
      'POST /v1/messages/m-2/regenerate': at(7, () => running),
      'POST /v1/messages/continue': at(4, () => running),
      'POST /v1/messages/suggestion': at(5, () => ({ status: 202, body: { data: { id: 'i-1', status: 'pending' } } })),
      'GET /v1/messages/suggestion/i-1': {
        data: { id: 'i-1', status: 'ready', items: [{ id: 'i', text: '请她进来' }] },
      },
    },
    { capabilities, config, ...options },
  );
}

const risen = () => screen.findByRole('alertdialog', { name: '价格变了' });
const shownIn = (requests: RecordedRequest[], url: string) =>
  requests
    .filter((request) => request.url === url && request.method === 'POST')
    .map(({ body }) => (body as { price?: number }).price);

test('a message that costs more than was shown stays with its words, says so and goes by one tap', async () => {
  const { user, requests } = open();
  await write(user, '谁在门外？再说一遍');
  expect(await screen.findByText('价格变了，每条现在要 7 点，还没有发出')).toBeTruthy();
  expect(screen.getByText('谁在门外？再说一遍')).toBeTruthy();
  expect(await screen.findByText('每条 7 点 · 余额 100 点')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: '按 7 点发送' }));
  await screen.findByText('排队中');
  expect(shownIn(requests, '/v1/messages')).toEqual([2, 7]);
  const [first, second] = sends(requests).map(({ headers }) => headers['idempotency-key']);
  expect(second).toBe(first);
});

test('what waits behind it goes by the same tap, and by the price that was written down with it', async () => {
  const { user, live, requests } = openChat(
    {
      [LATEST]: latestDto([userLine, messageDto({ seq: 2, body: '', status: 'pending' })]),
      [SEND]: at(7, secondSentDto as Answer),
    },
    { capabilities },
  );
  await screen.findByText('排队中');
  for (const words of ['第一句', '第二句']) await write(user, words);
  expect((await outboxStore.all()).map(({ price }) => price)).toEqual([2, 2]);
  live.push('message.completed', messageEvent({ ...replyLine, version: 3 }));
  await user.click(await screen.findByRole('button', { name: '按 7 点发送' }));
  await waitFor(() => expect(shownIn(requests, '/v1/messages')).toEqual([2, 7]));
  expect((await outboxStore.all()).map(({ price }) => price)).toContain(7);
});

describe('one tap goes on at the new price with', () => {
  const press = (name: RegExp) => async (user: ReturnType<typeof openChat>['user']) =>
    user.click(await screen.findByRole('button', { name }));
  const cases = [
    ['继续', press(/^继续/), '/v1/messages/continue', 1, 4],
    ['灵感', press(/^灵感/), '/v1/messages/suggestion', 1, 5],
    ['换一种说法', press(/^换一种说法/), '/v1/messages/m-2/regenerate', 2, 7],
    [
      '编辑',
      async (user: ReturnType<typeof openChat>['user']) => {
        await user.click(await screen.findByRole('button', { name: '我的消息，更多操作：谁在门外？' }));
        await user.click(await screen.findByRole('button', { name: '编辑' }));
        await write(user, '说清楚');
      },
      '/v1/messages/m-1/edit',
      2,
      7,
    ],
  ] as const;

  test.each(cases)('%s', async (name, act, url, before, now) => {
    const { user, requests } = open();
    await act(user);
    const question = within(await risen());
    expect(question.getByText(`这一步现在要 ${now} 点，还没有扣点。`)).toBeTruthy();
    if (name === '编辑') expect(await field()).toHaveProperty('value', '谁在门外？说清楚');
    await user.click(question.getByRole('button', { name: `用 ${now} 点继续` }));
    await waitFor(() => expect(shownIn(requests, url)).toEqual([before, now]));
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
  });

  test('nothing, where the reader thinks better of it; the page shows the new prices', async () => {
    const { user, requests } = open();
    await user.click(await screen.findByRole('button', { name: /^继续.*1 点/ }));
    await user.click(within(await risen()).getByRole('button', { name: '再想想' }));
    expect(await screen.findByRole('button', { name: /^继续.*4 点/ })).toBeTruthy();
    expect(screen.getByRole('button', { name: /^灵感.*5 点/ })).toBeTruthy();
    expect(await screen.findByText('每条 7 点 · 余额 100 点')).toBeTruthy();
    expect(shownIn(requests, '/v1/messages/continue')).toEqual([1]);
  });
});

test.each([
  ['the shown price', { code: 'price_changed', price: 1 }],
  ['a lower price', { code: 'price_changed', price: 0.5 }],
  ['nothing', { code: 'price_changed', price: 0 }],
  ['a negative price', { code: 'price_changed', price: -5 }],
  ['a price next to a running reply', { code: 'conversation_busy', price: 4 }],
])('a refusal that names %s is an ordinary one', async (_name, body) => {
  const { user, requests } = openChat(
    { [LATEST]: latestDto([userLine, replyLine]), 'POST /v1/messages/continue': { status: 409, body } },
    { capabilities, config },
  );
  await user.click(await screen.findByRole('button', { name: /^继续.*1 点/ }));
  await waitFor(() => expect(said()).toEqual([texts.resume.failed]));
  expect(screen.queryByRole('alertdialog')).toBeNull();
  expect(await screen.findByText('每条 2 点 · 余额 100 点')).toBeTruthy();
  expect(shownIn(requests, '/v1/messages/continue')).toEqual([1]);
});

test('a message refused at the shown price is offered again at that price', async () => {
  const answer = { status: 409, body: { code: 'price_changed', price: 2 } };
  const { user } = openChat({ [LATEST]: latestDto([userLine, replyLine]), [SEND]: answer }, { capabilities, config });
  await write(user, '请进');
  expect(await screen.findByRole('button', { name: '点按重试' })).toBeTruthy();
  expect(screen.queryByText(/价格变了/)).toBeNull();
});

describe('a refusal after the reader has left shows a toast', () => {
  const calls = [
    ['继续', /^继续/, 'POST /v1/messages/continue'],
    ['灵感', /^灵感/, 'POST /v1/messages/suggestion'],
    ['换一种说法', /^换一种说法/, 'POST /v1/messages/m-2/regenerate'],
  ] as const;
  const refusals = [
    [{ status: 409, body: { code: 'price_changed', price: 9 } }, '价格变了，这一步现在要 9 点，还没有扣点'],
    [
      { status: 402, body: { required: 9, balance: 1 } },
      errorText({ kind: 'insufficientBalance', required: 9, balance: 1 }),
    ],
  ] as const;

  test.each(calls.flatMap((call) => refusals.map((refusal) => [...call, ...refusal] as const)))(
    '%s',
    async (_name, button, call, answer, words) => {
      let refuse = () => {};
      const late = new Promise((resolve) => (refuse = () => resolve(answer)));
      const { user, requests, unmount } = openChat(
        { [LATEST]: latestDto([userLine, replyLine]), [call]: () => late },
        { capabilities, config },
      );
      await user.click(await screen.findByRole('button', { name: button }));
      await waitFor(() => expect(requests.map(({ method, url }) => `${method} ${url}`)).toContain(call));
      unmount();
      refuse();
      await waitFor(() => expect(said()).toEqual([words]));
    },
  );
});

test('each way to go on with a reply says what it costs', async () => {
  const { user } = openChat(
    { [LATEST]: latestDto([userLine, messageDto({ ...replyLine, status: 'cancelled', body: '“你来' })]) },
    { capabilities, config },
  );
  expect((await screen.findByText('已停止')).nextElementSibling?.textContent).toBe('继续 · 1 点');
  await user.click(screen.getByRole('button', { name: /，更多操作：“你来/ }));
  const menu = within(await screen.findByRole('dialog'));
  expect(menu.getByRole('button', { name: /^继续/ }).textContent).toBe('继续1 点');
});

test('what has become dearer since it was shown is asked about', async () => {
  const { user, requests } = open();
  const chip = await screen.findByRole('button', { name: /^继续.*1 点/ });
  // as the host does when its page is idle
  await served.learn();
  await user.click(chip);
  await risen();
  expect(shownIn(requests, '/v1/messages/continue')).toEqual([1]);
});

test('a refusal that names one price leaves the others as they were', async () => {
  const answer = { status: 409, body: { code: 'price_changed', price: 4, rules: { continue_price: 4 } } };
  const { user } = openChat(
    { [LATEST]: latestDto([userLine, replyLine]), 'POST /v1/messages/continue': answer },
    { capabilities, config },
  );
  await user.click(await screen.findByRole('button', { name: /^继续.*1 点/ }));
  await user.click(within(await risen()).getByRole('button', { name: '再想想' }));
  expect(await screen.findByRole('button', { name: /^继续.*4 点/ })).toBeTruthy();
  expect(screen.getByRole('button', { name: /^灵感.*1 点/ })).toBeTruthy();
});

test('a backend that does not announce it is sent no price', async () => {
  const { user, requests } = openChat(
    { [SEND]: secondSentDto as Answer, [LATEST]: latestDto([userLine, replyLine]) },
    { config },
  );
  await write(user, '谁在门外？再说一遍');
  await screen.findByText('排队中');
  expect(shownIn(requests, '/v1/messages')).toEqual([undefined]);
});

test('ideas that come after the reader has gone on without them are not lost in silence', async () => {
  let isReady = false;
  const { user } = openChat(
    {
      [LATEST]: latestDto([userLine, replyLine]),
      [SEND]: secondSentDto,
      'POST /v1/messages/suggestion': { status: 202, body: { data: { id: 'i-1', status: 'pending' } } },
      'GET /v1/messages/suggestion/i-1': () => ({
        data: {
          id: 'i-1',
          status: isReady ? 'ready' : 'pending',
          items: isReady ? [{ id: 'i', text: '请她进来' }] : [],
        },
      }),
    },
    { config: { rules: { suggestionPrice: 1 } } },
  );
  await user.click(await screen.findByRole('button', { name: /^灵感/ }));
  await screen.findByText('正在寻找灵感');
  await write(user, '请进');
  expect(await screen.findByText('排队中')).toBeTruthy();
  isReady = true;
  expect(await screen.findByText('灵感来晚了，对话已往下走，花掉的 1 点不退还')).toBeTruthy();
});
