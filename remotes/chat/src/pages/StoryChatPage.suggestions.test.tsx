import { api, drafts, offlineCache, session, store } from '@liaozhai/shared/runtime';
import {
  type Handlers,
  memberDto,
  offline,
  onTestEnd,
  type RecordedRequest,
  screen,
  waitFor,
} from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { suggestionKeyOf } from '../api/suggestions';
import { latestDto, messageEvent, storyDto } from '../fixtures';
import { toMessage } from '../model/message';
import { chatActions, selectChat } from '../slice';
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
  sentDto,
  userLine,
} from '../testing/chatting';

type User = ReturnType<typeof openChat>['user'];

const pending = { id: 'i-1', conversation_id: 'c-1', status: 'pending', items: [] };

/** Configures a site whose suggestions cost 5 points. */
function priceIdeas() {
  const config = document.createElement('script');
  config.type = 'application/json';
  config.id = 'liaozhai-config';
  config.textContent = JSON.stringify({ rules: { suggestionPrice: 5 } });
  document.body.append(config);
  onTestEnd(() => config.remove());
}

test('ideas take their price immediately, and give it back if none came', async () => {
  priceIdeas();
  let isOver = false;
  const { user } = openChat({
    [LATEST]: latestDto([userLine, replyLine]),
    'POST /v1/messages/suggestion': { status: 202, body: { data: pending } },
    'GET /v1/messages/suggestion/i-1': () => ({ data: { ...pending, status: isOver ? 'failed' : 'pending' } }),
  });
  await user.click(await screen.findByRole('button', { name: /灵感/ }));
  expect(await screen.findByText('每条 2 点 · 余额 95 点')).toBeTruthy();
  isOver = true;
  expect(await screen.findByText('每条 2 点 · 余额 100 点')).toBeTruthy();
});

describe('ideas are paid for once', () => {
  const ASK = 'POST /v1/messages/suggestion';
  const READ = 'GET /v1/messages/suggestion/i-1';
  const ready = { ...pending, status: 'ready', items: [{ id: 'i-1-1', text: '请她进来' }] };
  const handlers = { [LATEST]: latestDto([userLine, replyLine]), [ASK]: { status: 202, body: { data: pending } } };
  const chip = () => screen.findByRole('button', { name: /灵感/ });
  const keys = (requests: RecordedRequest[]) =>
    requests.filter(({ method, url }) => `${method} ${url}` === ASK).map(({ headers }) => headers['idempotency-key']);
  /** Stores suggestions for the last line, as another tab would. */
  const otherTabKeeps = (suggestions: object) =>
    offlineCache.write('chat.ideas.1.s-1', {
      baseKey: suggestionKeyOf(toMessage(replyLine)),
      clientId: '',
      items: [],
      ...suggestions,
    });

  test.each(['completed', undefined])(
    'and offered as soon as they are there, though their status is %s',
    async (status) => {
      const { user, requests } = openChat({
        ...handlers,
        [ASK]: { status: 202, body: { data: { ...ready, status } } },
      });
      await user.click(await chip());
      expect(await screen.findByText('请她进来')).toBeTruthy();
      expect(requests.some(({ url }) => url === '/v1/messages/suggestion/i-1')).toBe(false);
    },
  );

  test.each([
    ['without ids', [{ text: '请她进来' }, { text: '问她姓名' }]],
    ['as texts', ['请她进来', '问她姓名']],
    [
      'under one id',
      [
        { id: 1, text: '请她进来' },
        { id: 1, text: '问她姓名' },
        { id: 2, text: '请她进来' },
      ],
    ],
  ])('and offered once each, also %s', async (_, items) => {
    const { user } = openChat({ ...handlers, [ASK]: { data: { ...ready, items } } });
    await user.click(await chip());
    expect(await screen.findAllByRole('button', { name: /^填入/ })).toHaveLength(2);
    expect(screen.getByText('问她姓名')).toBeTruthy();
  });

  test.each<[string, object, object]>([
    ['is ready without a line', { ...ready, items: [] }, {}],
    ['is no longer there', pending, { status: 404 }],
    ['cannot be read', pending, { status: 500 }],
  ])('and the server’s balance is shown where the order %s', async (_, order, read) => {
    priceIdeas();
    const { user } = openChat({
      ...handlers,
      [ASK]: { data: order },
      [READ]: read,
      'GET /v1/user': { data: { id: 'u-1', name: '宁采臣', balance: 77 } },
    });
    await user.click(await chip());
    expect(await screen.findByText('每条 2 点 · 余额 77 点')).toBeTruthy();
  });

  test('though they take longer than one waits, and are requested again', async () => {
    rs.useFakeTimers({ toFake: ['Date'] });
    onTestEnd(() => rs.useRealTimers());
    let isReady = false;
    const { user, requests } = openChat({ ...handlers, [READ]: () => ({ data: isReady ? ready : pending }) });
    await user.click(await chip());
    await screen.findByText('正在寻找灵感');
    await waitFor(() => expect(requests.some(({ url }) => url === '/v1/messages/suggestion/i-1')).toBe(true));
    rs.setSystemTime(Date.now() + 61_000);
    await waitFor(() => expect(store.getState().toasts.map(({ text }) => text)).toContain('没能找到灵感，请再试一次'));
    isReady = true;
    await user.click(await chip());
    expect(await screen.findByRole('button', { name: '填入：请她进来' })).toBeTruthy();
    const [first, second, ...others] = keys(requests);
    expect(second).toBe(first);
    expect(others).toEqual([]);
  });

  test('though another tab has bought them since', async () => {
    const { user, requests } = openChat(handlers);
    await chip();
    await otherTabKeeps({ status: 'ready', items: ready.items });
    await user.click(await chip());
    expect(await screen.findByRole('button', { name: '填入：请她进来' })).toBeTruthy();
    expect(keys(requests)).toEqual([]);
  });

  test('though another tab still waits for them', async () => {
    const { user, requests } = openChat({ ...handlers, [READ]: { data: ready } });
    await chip();
    await otherTabKeeps({ status: 'pending', clientId: 'client-of-the-other' });
    await user.click(await chip());
    expect(await screen.findByRole('button', { name: '填入：请她进来' })).toBeTruthy();
    expect(keys(requests)).toEqual(['client-of-the-other']);
  });
});

test('ideas of a reader who has given way to another are not looked for any more', async () => {
  const { user, requests, live } = openChat({
    [LATEST]: latestDto([userLine, replyLine]),
    'GET /v1/user': () => memberDto({ id: 'u-2' }),
    'POST /v1/messages/suggestion': { status: 202, body: { data: pending } },
  });
  await user.click(await screen.findByRole('button', { name: /灵感/ }));
  await screen.findByText('正在寻找灵感');
  await waitFor(() => session.userReceived(memberDto({ id: 'u-2' })));
  live.push('suggestion.ready', { id: 'i-1' });
  await session.refresh();
  expect(requests.filter(({ url }) => url === '/v1/messages/suggestion/i-1')).toEqual([]);
  expect(store.getState().toasts).toEqual([]);
});

/** Handlers under which every order is ready immediately: `i-1` offers 第1批甲 and 第1批乙, `i-2` 第2批甲 and so on. */
function suggesting(patch: Handlers = {}) {
  let orders = 0;
  const body = () => ({
    ...pending,
    id: `i-${orders}`,
    status: 'ready',
    items: ['甲', '乙'].map((name, index) => ({ id: `i-${orders}-${index + 1}`, text: `第${orders}批${name}` })),
  });
  return openChat({
    [LATEST]: latestDto([userLine, replyLine]),
    'POST /v1/messages/suggestion': () => {
      orders += 1;
      return { status: 202, body: { data: body() } };
    },
    // the API receives the id of the set, not of the line
    [SEND]: (request: RecordedRequest) => {
      const { suggestion_id: named } = request.body as { suggestion_id?: string };
      if (named === undefined || named === `i-${orders}`) return secondSentDto(request);
      return { status: 422, body: { message: '灵感已失效', errors: { suggestion_id: ['灵感已失效'] } } };
    },
    ...patch,
  });
}

const button = (name: string | RegExp) => screen.findByRole('button', { name });
const orders = (requests: RecordedRequest[]) => requests.filter(({ url }) => url === '/v1/messages/suggestion');

describe('a suggestion that is sent', () => {
  test.each([
    ['as it is', async (user: User) => user.click(await button('直接发送：第1批乙'))],
    [
      'from the field',
      async (user: User) => {
        await user.click(await button('填入：第1批乙'));
        await user.click(sendButton());
      },
    ],
  ])('%s goes once, under the id of what was bought', async (_, send) => {
    const { user, requests } = suggesting();
    await user.click(await button(/^灵感/));
    await send(user);
    await screen.findByText('排队中');
    expect(sends(requests).map(({ body }) => body)).toMatchObject([{ body: '第1批乙', suggestion_id: 'i-1' }]);
  });

  test('comes after what the reader has written, and takes the place of the one before it', async () => {
    const { user } = suggesting();
    await user.type(await field(), '姑娘，');
    await user.click(await button(/^灵感/));
    await user.click(await button('填入：第1批甲'));
    expect(await field()).toHaveProperty('value', '姑娘，\n第1批甲');
    await user.clear(await field());
    await user.click(await button(/^灵感/));
    await user.click(await button('填入：第1批甲'));
    await user.click(await button(/^灵感/));
    await user.click(await button('填入：第1批乙'));
    expect(await field()).toHaveProperty('value', '第1批乙');
  });

  test('after it was changed goes as the reader’s own words', async () => {
    const { user, requests } = suggesting();
    await user.click(await button(/^灵感/));
    await user.click(await button('填入：第1批乙'));
    await user.type(await field(), '！');
    await user.click(sendButton());
    await screen.findByText('排队中');
    const [request, ...others] = sends(requests);
    expect(request && bodyOf(request)).toMatchObject({ body: '第1批乙！' });
    expect(request?.body).not.toHaveProperty('suggestion_id');
    expect(others).toEqual([]);
  });
});

describe('the panel of suggestions', () => {
  test('closes once one has filled the field, and opens again at no cost', async () => {
    const { user, requests } = suggesting();
    await user.click(await button(/^灵感/));
    await user.click(await button('填入：第1批甲'));
    expect(screen.queryByRole('region', { name: '灵感' })).toBeNull();
    expect(await field()).toHaveProperty('value', '第1批甲');
    await user.dblClick(await button(/^灵感/));
    await button('填入：第1批乙');
    expect(orders(requests)).toHaveLength(1);
  });

  test('stands while the text is the same, though its version is another', async () => {
    const { user, live } = suggesting();
    await user.click(await button(/^灵感/));
    await button('填入：第1批甲');
    live.push(
      'message.completed',
      messageEvent({ ...replyLine, version: 3, body: '她走了。', variant: 1, variants: 2 }),
    );
    await screen.findByText('她走了。');
    expect(screen.queryByRole('region', { name: '灵感' })).toBeNull();
    live.push('message.completed', messageEvent({ ...replyLine, version: 4, variant: 1, variants: 2 }));
    await button('填入：第1批甲');
  });

  test('stays closed over a reload of the page, and opens again at no cost', async () => {
    const { user, unmount } = suggesting();
    await user.click(await button(/^灵感/));
    await user.click(await button('填入：第1批甲'));
    const kept = async () => (await offlineCache.read('chat.ideas.1.s-1')) as { isClosed?: boolean } | undefined;
    await waitFor(async () => expect((await kept())?.isClosed).toBe(true));
    unmount();
    store.dispatch(chatActions.userLeft());
    store.dispatch(api.util.resetApiState());
    const { user: later, requests } = suggesting();
    await waitFor(() => expect(selectChat(store.getState()).suggestions['s-1']).toBeTruthy());
    await button(/^灵感/);
    expect(screen.queryByRole('region', { name: '灵感' })).toBeNull();
    await later.click(await button(/^灵感/));
    await button('填入：第1批乙');
    expect(orders(requests)).toHaveLength(0);
  });

  test('brings others for the price that it names, under a key of their own', async () => {
    priceIdeas();
    const { user, requests } = suggesting();
    await user.click(await button(/^灵感/));
    await button('填入：第1批甲');
    await user.click(await button('换一批 5 点'));
    await button('填入：第2批甲');
    expect(screen.queryByText('第1批甲')).toBeNull();
    expect(await screen.findByText('每条 2 点 · 余额 90 点')).toBeTruthy();
    expect(new Set(orders(requests).map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
    await user.click(await button('直接发送：第2批乙'));
    await screen.findByText('排队中');
    expect(sends(requests).map(({ body }) => body)).toMatchObject([{ suggestion_id: 'i-2' }]);
  });

  test('offers no others while some are on their way', async () => {
    const { user } = suggesting({ 'POST /v1/messages/suggestion': () => new Promise(() => {}) });
    await user.click(await button(/^灵感/));
    await screen.findByText('正在寻找灵感');
    expect(screen.queryByRole('button', { name: /换一批/ })).toBeNull();
  });

  test('stays as it is when an order fails that was made before the reader left', async () => {
    const { user, unmount } = suggesting({ 'POST /v1/messages/suggestion': { status: 202, body: { data: pending } } });
    await user.click(await button(/^灵感/));
    await screen.findByText('正在寻找灵感');
    unmount();
    store.dispatch(chatActions.userLeft());
    store.dispatch(api.util.resetApiState());
    await offlineCache.write('chat.ideas.1.s-1', null);
    const { user: later, requests } = suggesting({
      'GET /v1/messages/suggestion/i-1': () => ({ data: { ...pending, status: 'failed' } }),
    });
    await later.click(await button(/^灵感/));
    await button('填入：第1批甲');
    await waitFor(() => expect(requests.some(({ url }) => url === '/v1/messages/suggestion/i-1')).toBe(true));
    await waitFor(() => expect(store.getState().toasts).toHaveLength(1));
    await button('填入：第1批甲');
  });

  test('shows the former ones again where no others came, and asks for those under the same key', async () => {
    let isUp = true;
    const ready = { ...pending, status: 'ready', items: [{ id: 'i-1-1', text: '请她进来' }] };
    const { user, requests } = suggesting({
      'POST /v1/messages/suggestion': () => {
        if (!isUp) throw offline();
        return { status: 202, body: { data: ready } };
      },
    });
    await user.click(await button(/^灵感/));
    await button('填入：请她进来');
    isUp = false;
    await user.click(await button(/换一批/));
    await waitFor(() => expect(store.getState().toasts).toHaveLength(1));
    await button('填入：请她进来');
    await user.click(await button(/换一批/));
    await waitFor(() => expect(orders(requests)).toHaveLength(3));
    const [first, second, third] = orders(requests).map(({ headers }) => headers['idempotency-key']);
    expect(second).not.toBe(first);
    expect(third).toBe(second);
  });
});

describe('the opening lines of a story', () => {
  const story = { 'GET /v1/stories/s-1': storyDto({ opening_lines: ['借你一盏灯', '你是什么人？'] }) };
  const region = () => screen.queryByRole('region', { name: '开口第一句' });

  test('fill the field of a guest, and are there again once it is empty', async () => {
    const { user } = openChat(story, { user: null });
    await user.click(await button('填入：借你一盏灯'));
    expect(await field()).toHaveProperty('value', '借你一盏灯');
    expect(region()).toBeNull();
    await user.clear(await field());
    await user.click(await button('填入：你是什么人？'));
    expect(await field()).toHaveProperty('value', '你是什么人？');
  });

  test('that a guest sends wait in the chat for the sign-in', async () => {
    const { user } = openChat(story, { user: null });
    await user.click(await button('直接发送：借你一盏灯'));
    expect(await screen.findByText('借你一盏灯')).toBeTruthy();
    expect(selectChat(store.getState()).pending.map(({ body }) => body)).toEqual(['借你一盏灯']);
    expect(region()).toBeNull();
  });

  test('cost a member nothing but the message', async () => {
    const { user, requests } = openChat({ ...story, [SEND]: (request: RecordedRequest) => sentDto(request) });
    await user.click(await button('直接发送：借你一盏灯'));
    await waitFor(() => expect(sends(requests).map(({ body }) => body)).toMatchObject([{ body: '借你一盏灯' }]));
    expect(sends(requests)[0]?.body).not.toHaveProperty('suggestion_id');
    expect(orders(requests)).toEqual([]);
  });

  test('the line that was tapped on the page stands in the field, and stays out once taken out', async () => {
    const { user } = openChat(story, { path: '/story/s-1?chat=1&line=2', user: null });
    await waitFor(async () => expect(await field()).toHaveProperty('value', '你是什么人？'));
    await user.clear(await field());
    await user.click(await button('收起开口第一句'));
    expect(await field()).toHaveProperty('value', '');
  });

  test('leave words that were written before as they are', async () => {
    drafts.write('story.s-1', '且慢');
    openChat(story, { path: '/story/s-1?chat=1&line=2', user: null });
    await waitFor(async () => expect(await field()).toHaveProperty('value', '且慢'));
    expect(region()).toBeNull();
  });

  test('are gone where something was said', async () => {
    openChat({ ...story, [LATEST]: latestDto([userLine, replyLine]) });
    await screen.findByRole('button', { name: /灵感/ });
    expect(region()).toBeNull();
  });
});
