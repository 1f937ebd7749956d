import { HOUR_MS } from '@liaozhai/shared/contract';
import { api, authPopup, type Capability, defineRemote, store, useParams } from '@liaozhai/shared/runtime';
import {
  act,
  fakeEndOfList,
  offline,
  onTestEnd,
  openRemote,
  type RecordedRequest,
  screen,
  type UserEvent,
  waitFor,
  within,
} from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { conversationDto, latestDto, messageDto, messageEvent, pageDto } from '../fixtures';
import remote from '../remote';
import { LATEST, openChat, replyLine, userLine } from '../testing/chatting';
import { texts } from '../texts';
import { ConversationColumn } from './ConversationListPage';

const LIST = 'GET /v1/conversations';
const DELETE = 'DELETE /v1/conversations/c-1';
const second = conversationDto({
  id: 'c-2',
  story: { id: 's-2', title: '画皮' },
  last_message: { id: 'm-9', role: 'user', excerpt: '你是谁？' },
  updated_at: '2026-11-19T04:00:00.000000Z',
});

const open = (
  handlers: Parameters<typeof openRemote>[1],
  user: { id: string } | null = { id: 'u-1' },
  capabilities: Capability[] = [],
) => openRemote(remote, handlers, { path: '/conversations', user, capabilities });
const titles = async () =>
  within(await screen.findByRole('list', { name: '聊过的故事' }))
    .getAllByRole('link')
    .map((link) => link.getAttribute('href'));
const deletions = (requests: RecordedRequest[]) => requests.filter(({ method }) => method === 'DELETE');

test('each conversation shows its story and its last line, and leads into the chat', async () => {
  open({ [LIST]: pageDto([conversationDto(), second]) });
  const row = await screen.findByRole('link', { name: /画皮/ });
  expect(row.getAttribute('href')).toBe('/story/s-2?chat=1');
  expect(row.textContent).toContain('我：你是谁？');
  expect(screen.getByText('都在这里了')).toBeTruthy();
});

test.each([
  ['an unreadable id', { id: '', title: '有名无编号' }, '有名无编号'],
  ['no id', { title: '有名无编号' }, '有名无编号'],
  ['nothing', null, '无题'],
])('a conversation of whose story the server tells %s leads nowhere, and says so', async (_, story, title) => {
  open({ [LIST]: pageDto([{ ...conversationDto({ unread: true }), story }, second]) }, undefined, [
    'conversations.unread',
  ]);
  expect(await titles()).toEqual(['/story/s-2?chat=1']);
  expect(screen.getByText('这段对话打不开了')).toBeTruthy();
  expect(screen.queryByText('有新回复')).toBeNull();
  expect(screen.getByRole('button', { name: `《${title}》的更多操作` })).toBeTruthy();
});

test('a conversation whose last words the server does not tell does not pass for a new one', async () => {
  const begun = { id: 'm-9', role: 'assistant', excerpt: '' };
  const { last_message: _, ...untold } = conversationDto({ id: 'c-3', story: { id: 's-3', title: '崂山道士' } });
  const restarted = { ...second, last_message: null, last_seq: 0 };
  const empty = conversationDto({ id: 'c-4', story: { id: 's-4', title: '莲香' }, last_message: null, last_seq: 8 });
  open({ [LIST]: pageDto([conversationDto({ last_message: begun }), restarted, untold, empty]) });
  expect((await screen.findByRole('link', { name: /聂小倩/ })).textContent).toContain('……');
  expect(screen.getByRole('link', { name: /崂山道士/ }).textContent).toContain('……');
  expect(screen.getByRole('link', { name: /莲香/ }).textContent).toContain('……');
  expect(screen.getByRole('link', { name: /画皮/ }).textContent).toContain('对话刚刚开始');
});

test.each([
  ['three hours ahead', 3 * HOUR_MS],
  ['five hours behind', -5 * HOUR_MS],
  ['two days ahead', 48 * HOUR_MS],
  ['years behind', -9 * 365 * 24 * HOUR_MS],
  ['years ahead', 9 * 365 * 24 * HOUR_MS],
])('times are the server’s where the clock of the device is %s', async (_, offMs) => {
  const now = Date.parse('2026-11-25T04:00:00Z');
  rs.useFakeTimers({ toFake: ['Date'], now: now + offMs });
  onTestEnd(() => rs.useRealTimers());
  const minutesAgo = (count: number) => new Date(now - count * 60_000).toISOString();
  const rows = [conversationDto({ updated_at: minutesAgo(5) }), { ...second, updated_at: minutesAgo(24 * 60) }];
  open({ [LIST]: { status: 200, body: pageDto(rows), headers: { date: new Date(now).toUTCString() } } });
  expect(await screen.findByText('5 分钟前')).toBeTruthy();
  expect(screen.getByText('昨天 12:00')).toBeTruthy();
});

test('a message moves its conversation up, with its words', async () => {
  const { live } = open({ [LIST]: pageDto([conversationDto(), second]) });
  expect(await titles()).toEqual(['/story/s-1?chat=1', '/story/s-2?chat=1']);
  const message = messageDto({
    conversation_id: 'c-2',
    seq: 3,
    version: 3,
    body: '*她笑了。*',
    updated_at: '2026-11-21T00:00:00Z',
  });
  live.push('message.completed', messageEvent(message));
  expect(await screen.findByText('她笑了。')).toBeTruthy();
  expect(await titles()).toEqual(['/story/s-2?chat=1', '/story/s-1?chat=1']);
});

test('a conversation begun elsewhere appears', async () => {
  let list = [conversationDto()];
  const { live } = open({ [LIST]: () => pageDto(list) });
  await screen.findByRole('link', { name: /聂小倩/ });
  list = [second, ...list];
  live.push('message.created', messageEvent(messageDto({ conversation_id: 'c-2' })));
  expect(await screen.findByRole('link', { name: /画皮/ })).toBeTruthy();
});

async function remove(user: ReturnType<typeof open>['user']) {
  await user.click(await screen.findByRole('button', { name: '《聂小倩》的更多操作' }));
  const menu = screen.getByRole('menu', { name: '《聂小倩》的更多操作', hidden: true });
  await user.click(within(menu).getByText('删除'));
  await waitFor(() => expect(screen.queryByRole('link', { name: /聂小倩/ })).toBeNull());
}

test('a deletion hides the row immediately, and leaving the page carries it out', async () => {
  const { user, requests } = open({ [LIST]: pageDto([conversationDto(), second]), [DELETE]: { status: 204 } });
  await remove(user);
  expect(deletions(requests)).toHaveLength(0);
  const sent: string[] = [];
  const realFetch = globalThis.fetch;
  onTestEnd(() => {
    globalThis.fetch = realFetch;
  });
  globalThis.fetch = async (input, init) => {
    const request = input instanceof Request ? input : new Request(String(input), init);
    sent.push(`${request.method} ${new URL(request.url).pathname}`);
    return new Response(null, { status: 204 });
  };
  await waitFor(() => {
    window.dispatchEvent(new Event('pagehide'));
    expect(sent).toEqual(['DELETE /api/v1/conversations/c-1']);
  });
  expect(screen.queryByRole('link', { name: /聂小倩/ })).toBeNull();
});

test.each([
  ['one token', 'XSRF-TOKEN=new%3D', 'new='],
  ["a parent domain's token before the own one", 'XSRF-TOKEN=old; XSRF-TOKEN=new%3D', 'new='],
  ['a token that is no URL encoding', 'XSRF-TOKEN=%E0%A4%A', '%E0%A4%A'],
  ['no token', 'theme=dark', ''],
])('leaving the page carries a deletion out with %s', async (_, cookie, accepted) => {
  const { user } = open({ [LIST]: pageDto([conversationDto(), second]) });
  await remove(user);
  const realFetch = globalThis.fetch;
  onTestEnd(() => {
    globalThis.fetch = realFetch;
    Reflect.deleteProperty(document, 'cookie');
  });
  Object.defineProperty(document, 'cookie', { configurable: true, get: () => cookie });
  const statuses: number[] = [];
  globalThis.fetch = async (_, init) => {
    const status = new Headers(init?.headers).get('X-XSRF-TOKEN') === accepted ? 204 : 419;
    statuses.push(status);
    return new Response(null, { status });
  };
  await waitFor(() => {
    window.dispatchEvent(new Event('pagehide'));
    expect(statuses).toContain(204);
  });
  expect(screen.queryByRole('link', { name: /聂小倩/ })).toBeNull();
});

describe('in a wide window', () => {
  const both = { [LIST]: pageDto([conversationDto(), second]) };

  test('the list keeps to a column, with the way on next to it', async () => {
    openRemote(remote, both, { path: '/conversations', user: {}, wide: true });
    expect(await titles()).toHaveLength(2);
    expect(screen.getByText('选一段对话，接着聊')).toBeTruthy();
  });

  function openBeside(list: unknown[], capabilities: Capability[] = []) {
    const Beside = () => <ConversationColumn storyId={useParams().id ?? ''} />;
    const page = async () => ({ default: Beside });
    const routes = [{ name: 'story', path: '/story/:id', title: '故事', page }];
    const host = defineRemote({ name: 'chat', routes, slots: remote.slots });
    return openRemote(host, { [LIST]: pageDto(list) }, { path: '/story/s-1', user: {}, wide: true, capabilities });
  }

  test('what is read in the chat next to it gets no dot, not even for a moment', async () => {
    const unread = { unread: true };
    openBeside([conversationDto(unread), { ...second, ...unread }], ['conversations.unread']);
    expect(await screen.findByRole('link', { name: /画皮.*有新回复/ })).toBeTruthy();
    expect(screen.queryByRole('link', { name: /聂小倩.*有新回复/ })).toBeNull();
  });

  test('the conversation whose chat stands next to it is marked, and another replaces it', async () => {
    const { user } = openBeside([conversationDto(), second]);
    const isOpen = (name: RegExp) => screen.getByRole('link', { name }).getAttribute('aria-current') === 'page';
    await titles();
    expect([isOpen(/聂小倩/), isOpen(/画皮/)]).toEqual([true, false]);
    const { length } = history;
    await user.click(screen.getByRole('link', { name: /画皮/ }));
    await waitFor(() => expect([isOpen(/聂小倩/), isOpen(/画皮/)]).toEqual([false, true]));
    expect(history.length).toBe(length);
  });
});

test('nothing yet says what to do', async () => {
  open({ [LIST]: pageDto([]) });
  expect(await screen.findByText('还没有聊过，去发现挑一个故事吧')).toBeTruthy();
  expect(screen.getByRole('link', { name: '去发现' }).getAttribute('href')).toBe('/explore');
});

test('a visitor sees what this is and an invitation to sign in, and nothing is requested', async () => {
  const modes: string[] = [];
  onTestEnd(
    authPopup.onRequest(async (mode) => {
      modes.push(mode);
      return false;
    }),
  );
  const { user, requests } = open({}, null);
  await user.click(await screen.findByRole('button', { name: '登录' }));
  expect(modes).toEqual(['login']);
  expect(requests).toEqual([]);
});

test('without a network the last list is there to read', async () => {
  const { unmount } = open({ [LIST]: () => pageDto([conversationDto()]) });
  await screen.findByRole('link', { name: /聂小倩/ });
  unmount();
  // as after a reload: only the data on the device is left
  store.dispatch(api.util.resetApiState());
  const { requests } = open({
    [LIST]: () => {
      throw offline();
    },
  });
  expect(await screen.findByRole('link', { name: /聂小倩/ })).toBeTruthy();
  expect(requests.map(({ method, url }) => `${method} ${url}`)).toContain(LIST);
  expect(screen.getByText('都在这里了')).toBeTruthy();
});

test('the last list stays below the error of a failing server, until the server answers again', async () => {
  const { unmount } = open({ [LIST]: pageDto([conversationDto()]) });
  await titles();
  unmount();
  store.dispatch(api.util.resetApiState());
  let answer: unknown = { status: 503, body: { message: '维护中' } };
  const { user } = open({ [LIST]: () => answer });
  expect(await titles()).toEqual(['/story/s-1?chat=1']);
  expect(screen.queryByText('都在这里了')).toBeNull();
  answer = pageDto([second]);
  await user.click(screen.getByRole('button', { name: '重试' }));
  await screen.findByRole('link', { name: /画皮/ });
  expect(await titles()).toEqual(['/story/s-2?chat=1']);
  expect(screen.queryByRole('button', { name: '重试' })).toBeNull();
});

test.each([
  ['comes before others', pageDto([], 'p2')],
  ['has no readable row', pageDto([{ title: '聂小倩' }])],
])('a page that %s is no empty list, with a network or without', async (_, page) => {
  const { unmount } = open({ [LIST]: page });
  if (!page.meta.next_cursor) expect(await screen.findByRole('button', { name: '重试' })).toBeTruthy();
  else await waitFor(() => expect(screen.getByRole('heading', { name: '聊过' })).toBeTruthy());
  unmount();
  store.dispatch(api.util.resetApiState());
  open({
    [LIST]: () => {
      throw offline();
    },
  });
  expect(await screen.findByRole('button', { name: '重试' })).toBeTruthy();
});

test('a list that began with what the device kept goes on once 刷新 reaches the server', async () => {
  const reachEnd = fakeEndOfList();
  let isUp = true;
  const list = {
    [LIST]: () => {
      if (!isUp) throw offline();
      return pageDto([conversationDto()], 'p2');
    },
  };
  const read = open(list);
  await titles();
  read.unmount();
  store.dispatch(api.util.resetApiState());
  isUp = false;
  const { requests } = open(list);
  await titles();
  // the server has more than the device's copy
  expect(screen.queryByText('都在这里了')).toBeNull();
  isUp = true;
  screen.getByRole('button', { name: '刷新' }).click();
  await waitFor(async () => {
    await reachEnd();
    expect(requests.some(({ params }) => params.cursor === 'p2')).toBe(true);
  });
});

test('a list that does not come offers to try again', async () => {
  let works = false;
  const { user } = open({ [LIST]: () => (works ? pageDto([second]) : { status: 500, body: { message: '册子丢了' } }) });
  expect(await screen.findByText('册子丢了')).toBeTruthy();
  works = true;
  await user.click(screen.getByRole('button', { name: '重试' }));
  expect(await screen.findByRole('link', { name: /画皮/ })).toBeTruthy();
});

test('刷新 brings the list after a first load that failed, and shows that it waits', async () => {
  let answered: Promise<unknown> | undefined;
  let answer = (_: unknown) => {};
  open({
    [LIST]: () => {
      if (!answered) throw offline();
      return answered;
    },
  });
  await screen.findByRole('button', { name: '重试' });
  answered = new Promise((resolve) => {
    answer = resolve;
  });
  const button = screen.getByRole('button', { name: '刷新' });
  button.click();
  await waitFor(() => expect(button.getAttribute('aria-busy')).toBe('true'));
  answer(pageDto([conversationDto()]));
  expect(await titles()).toEqual(['/story/s-1?chat=1']);
  await waitFor(() => expect(button.getAttribute('aria-busy')).not.toBe('true'));
});

describe('a reply that nobody has seen', () => {
  const unread = conversationDto({ unread: true });
  const openList = (list: unknown[]) => open({ [LIST]: pageDto(list) }, { id: 'u-1' }, ['conversations.unread']);
  const MARK = 'PUT /v1/conversations/c-1';
  const marks = (requests: RecordedRequest[]) => requests.filter(({ method }) => method === 'PUT');

  test('has a dot, which goes when another device has read it', async () => {
    const { live } = openList([unread, second]);
    expect(await screen.findByRole('link', { name: /聂小倩.*有新回复/ })).toBeTruthy();
    expect(screen.getByRole('link', { name: /画皮/ }).textContent).not.toContain('有新回复');
    live.push('conversation.updated', { conversation_id: 'c-1', conversation: conversationDto({ unread: false }) });
    await waitFor(() => expect(screen.queryByText('有新回复')).toBeNull());
  });

  test('gets its dot when it ends, and not while it is being written', async () => {
    const { live } = openList([second]);
    await titles();
    const reply = { conversation_id: 'c-2', seq: 3, body: '她笑了' };
    live.push('message.created', messageEvent(messageDto({ ...reply, version: 3, body: '', status: 'pending' })));
    live.push('message.created', messageEvent(messageDto({ ...reply, version: 4, status: 'streaming' })));
    expect(await screen.findByText('她笑了')).toBeTruthy();
    expect(screen.queryByText('有新回复')).toBeNull();
    live.push('message.completed', messageEvent(messageDto({ ...reply, version: 5 })));
    expect(await screen.findByText('有新回复')).toBeTruthy();
  });

  test('is reported to the other devices by the chat that shows it, once, and has no dot here from then on', async () => {
    const chat = openChat(
      { [LATEST]: latestDto([userLine, replyLine], { read_version: 1 }), [MARK]: conversationDto({ unread: false }) },
      { capabilities: ['conversations.unread'] },
    );
    await waitFor(() => expect(marks(chat.requests).map(({ body }) => body)).toEqual([{ read_version: 2 }]));
    const next = messageDto({ seq: 4, body: '她又来了' });
    chat.live.push('message.completed', messageEvent({ ...messageDto({ seq: 3, role: 'user', body: '嗯' }) }));
    chat.live.push('message.completed', messageEvent(next));
    await waitFor(() => expect(marks(chat.requests).at(-1)?.body).toEqual({ read_version: 4 }));
    expect(marks(chat.requests)).toHaveLength(2);
    chat.unmount();
    openList([conversationDto({ unread: true, version: 4 })]);
    await titles();
    expect(screen.queryByText('有新回复')).toBeNull();
  });

  test('is reported again if the server failed, though the reader has left the chat', async () => {
    const answers = [{ status: 502, body: {} }, conversationDto({ unread: false })];
    const chat = openChat(
      { [LATEST]: latestDto([userLine, replyLine], { read_version: 1 }), [MARK]: () => answers.shift() ?? {} },
      { capabilities: ['conversations.unread'] },
    );
    await waitFor(() => expect(answers).toHaveLength(1));
    chat.unmount();
    await waitFor(() => expect(answers).toEqual([]), { timeout: 30_000 });
    expect(marks(chat.requests).map(({ body }) => body)).toEqual([{ read_version: 2 }, { read_version: 2 }]);
  });

  test('that was seen elsewhere is not reported again', async () => {
    const { requests } = openChat(
      { [LATEST]: latestDto([userLine, replyLine], { read_version: 2 }) },
      { capabilities: ['conversations.unread'] },
    );
    await screen.findByText('她提着灯，站了许久。');
    expect(marks(requests)).toEqual([]);
  });

  test('of a server without dots shows none, and nothing is reported', async () => {
    const chat = openChat({ [LATEST]: latestDto([userLine, replyLine]) });
    await screen.findByText('她提着灯，站了许久。');
    expect(marks(chat.requests)).toEqual([]);
    chat.unmount();
    open({ [LIST]: pageDto([unread]) });
    await titles();
    expect(screen.queryByText('有新回复')).toBeNull();
  });
});

/** Taps a shelved run of 聂小倩 whose answer is held back, then opens the chat of 画皮. */
async function leaveSlowRun() {
  let resume: (answer: unknown) => void = () => {};
  const shelved = conversationDto({ id: 'c-0', run: 1, shelved: true });
  const { user, requests } = open({
    [LIST]: pageDto([second, shelved]),
    'PUT /v1/conversations/c-0': () => new Promise((resolve) => (resume = resolve)),
  });
  const row = await screen.findByRole('link', { name: /聂小倩/ });
  await user.click(row);
  await waitFor(() => expect(requests.some(({ method }) => method === 'PUT')).toBe(true));
  expect(row.closest('[aria-busy="true"]')).toBeTruthy();
  await user.click(screen.getByRole('link', { name: /画皮/ }));
  await waitFor(() => expect(location.pathname).toBe('/story/s-2'));
  return () => act(async () => resume({ data: conversationDto({ id: 'c-0', run: 1, shelved: false }) }));
}

test('a run that is resumed late leads nobody away from another chat', async () => {
  const answer = await leaveSlowRun();
  await answer();
  expect(location.pathname).toBe('/story/s-2');
});

test('a run that is resumed late leads nobody away from the list after another chat', async () => {
  const answer = await leaveSlowRun();
  act(() => history.back());
  await waitFor(() => expect(location.pathname).toBe('/conversations'));
  await answer();
  await titles();
  expect(location.pathname).toBe('/conversations');
});

describe('置顶', () => {
  const MARK = 'PUT /v1/conversations/c-2';
  const pinnedAt = '2026-11-21T00:00:00.000000Z';
  const openList = (handlers: Parameters<typeof openRemote>[1], list = [conversationDto(), second]) =>
    open({ [LIST]: pageDto(list), ...handlers }, { id: 'u-1' }, ['conversations.pin']);
  async function choose(user: ReturnType<typeof open>['user'], label: string) {
    await user.click(await screen.findByRole('button', { name: '《画皮》的更多操作' }));
    const menu = screen.getByRole('menu', { name: '《画皮》的更多操作', hidden: true });
    await user.click(within(menu).getByText(label));
  }

  test('puts a conversation first, marked, and 取消置顶 back into its place', async () => {
    const { user, requests } = openList({
      [MARK]: ({ body }: RecordedRequest) => ({
        ...second,
        pinned_at: (body as { pinned: boolean }).pinned ? pinnedAt : null,
      }),
    });
    await choose(user, '置顶');
    await waitFor(async () => expect(await titles()).toEqual(['/story/s-2?chat=1', '/story/s-1?chat=1']));
    expect(screen.getByRole('link', { name: /画皮.*已置顶/ })).toBeTruthy();
    await choose(user, '取消置顶');
    await waitFor(async () => expect(await titles()).toEqual(['/story/s-1?chat=1', '/story/s-2?chat=1']));
    const sent = requests.filter(({ method }) => method === 'PUT').map(({ body }) => body);
    expect(sent).toEqual([{ pinned: true }, { pinned: false }]);
  });

  test.each([{ status: 204 }, { message: '已置顶' }, { data: { id: 'c-2', pinned_at: pinnedAt, version: 9 } }])(
    'stays where the server says no more than that it is done: %j',
    async (done) => {
      const { user, requests } = openList({ [MARK]: done });
      await choose(user, '置顶');
      await waitFor(() => expect(requests.some(({ method }) => method === 'PUT')).toBe(true));
      await act(async () => {});
      expect(await titles()).toEqual(['/story/s-2?chat=1', '/story/s-1?chat=1']);
      expect(store.getState().toasts).toEqual([]);
    },
  );

  test('ends with the last tap, also if older states arrive after it', async () => {
    const answers: (() => void)[] = [];
    const { user, requests, live } = openList({
      [MARK]: ({ body }: RecordedRequest) => {
        const { pinned } = body as { pinned: boolean };
        return new Promise((resolve) =>
          answers.push(() => resolve({ data: { ...second, pinned_at: pinned ? pinnedAt : null } })),
        );
      },
    });
    const sent = () => requests.filter(({ method }) => method === 'PUT').map(({ body }) => body);
    await choose(user, '置顶');
    await waitFor(() => expect(sent()).toEqual([{ pinned: true }]));
    await choose(user, '取消置顶');
    expect(await titles()).toEqual(['/story/s-1?chat=1', '/story/s-2?chat=1']);
    live.push('conversation.updated', { conversation_id: 'c-2', conversation: { ...second, pinned_at: pinnedAt } });
    await act(async () => answers[0]?.());
    expect(await titles()).toEqual(['/story/s-1?chat=1', '/story/s-2?chat=1']);
    await waitFor(() => expect(sent()).toEqual([{ pinned: true }, { pinned: false }]));
    await act(async () => answers[1]?.());
    expect(await titles()).toEqual(['/story/s-1?chat=1', '/story/s-2?chat=1']);
    expect(screen.queryByText('已置顶')).toBeNull();
  });

  test('is not undone by a list that was requested before it', async () => {
    const answers: (() => void)[] = [];
    const list = [conversationDto(), second];
    let isPinned = false;
    const { user, requests } = openList({
      [LIST]: () => {
        const page = pageDto(
          list.map((each) => (isPinned && each === second ? { ...each, pinned_at: pinnedAt } : each)),
        );
        return requests.length === 1 ? page : new Promise((resolve) => answers.push(() => resolve(page)));
      },
      [MARK]: () => {
        isPinned = true;
        return { data: { ...second, pinned_at: pinnedAt } };
      },
    });
    await titles();
    await user.click(screen.getByRole('button', { name: texts.list.refresh }));
    await waitFor(() => expect(answers).toHaveLength(1));
    await choose(user, '置顶');
    await waitFor(() => expect(isPinned).toBe(true));
    await act(async () => answers[0]?.());
    await waitFor(() => expect(answers).toHaveLength(2));
    await act(async () => answers[1]?.());
    expect(await titles()).toEqual(['/story/s-2?chat=1', '/story/s-1?chat=1']);
  });

  test('that the server refuses is undone, in its words', async () => {
    const { user } = openList({
      [MARK]: { status: 422, body: { message: '最多置顶 20 段对话', errors: { pinned: ['最多置顶 20 段对话'] } } },
    });
    await choose(user, '置顶');
    await waitFor(() => expect(store.getState().toasts.map(({ text }) => text)).toEqual(['最多置顶 20 段对话']));
    expect(await titles()).toEqual(['/story/s-1?chat=1', '/story/s-2?chat=1']);
  });

  test('stays first after messages in others, and comes from other devices', async () => {
    const { live } = openList({});
    await titles();
    live.push('conversation.updated', { conversation_id: 'c-2', conversation: { ...second, pinned_at: pinnedAt } });
    await waitFor(async () => expect(await titles()).toEqual(['/story/s-2?chat=1', '/story/s-1?chat=1']));
    live.push('message.completed', messageEvent(messageDto({ seq: 3, updated_at: '2026-11-22T00:00:00Z' })));
    await screen.findByText('她提着灯，在门外站了许久。');
    expect(await titles()).toEqual(['/story/s-2?chat=1', '/story/s-1?chat=1']);
  });

  test('is not offered by a server that has none', async () => {
    const { user } = open({ [LIST]: pageDto([second]) });
    await user.click(await screen.findByRole('button', { name: '《画皮》的更多操作' }));
    expect(screen.queryByText('置顶')).toBeNull();
  });
});

describe('the search', () => {
  const openList = (find: (request: RecordedRequest) => unknown) =>
    open(
      {
        [LIST]: (request: RecordedRequest) => (request.params.q ? find(request) : pageDto([conversationDto(), second])),
      },
      { id: 'u-1' },
      ['conversations.search'],
    );
  const field = () => screen.queryByRole('searchbox', { name: '找故事、人物或说过的话' });
  /** Opens the search if necessary; the field then has the focus. */
  async function searchField(user: UserEvent) {
    if (!field()) await user.click(await screen.findByRole('button', { name: '搜索对话' }));
    expect(document.activeElement).toBe(field());
    return field() as HTMLElement;
  }
  const asked = (requests: RecordedRequest[]) => requests.flatMap(({ params }) => params.q ?? []);

  test('finds by one request for words that were typed in one go, and ✕ brings the list back', async () => {
    const { user, requests } = openList(() => pageDto([second]));
    await user.type(await searchField(user), ' 画皮 ');
    await waitFor(async () => expect(await titles()).toEqual(['/story/s-2?chat=1']));
    expect(asked(requests)).toEqual(['画皮']);
    expect(screen.getByText('找到 1 段对话')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: '清除' }));
    await waitFor(async () => expect(await titles()).toEqual(['/story/s-1?chat=1', '/story/s-2?chat=1']));
  });

  test('put away brings the list back', async () => {
    const { user } = openList(() => pageDto([second]));
    await user.type(await searchField(user), '画皮{Enter}');
    await waitFor(async () => expect(await titles()).toEqual(['/story/s-2?chat=1']));
    await user.click(screen.getByRole('button', { name: '收起搜索' }));
    expect(field()).toBeNull();
    expect(await titles()).toEqual(['/story/s-1?chat=1', '/story/s-2?chat=1']);
  });

  test('is there again after a reload and on the way back from a chat', async () => {
    const { user, unmount } = openList(() => pageDto([second]));
    await user.type(await searchField(user), '画皮{Enter}');
    await waitFor(async () => expect(await titles()).toEqual(['/story/s-2?chat=1']));
    const path = location.pathname + location.search;
    unmount();
    openRemote(
      remote,
      { [LIST]: ({ params }: RecordedRequest) => pageDto(params.q === '画皮' ? [second] : []) },
      { path, user: { id: 'u-1' }, capabilities: ['conversations.search'] },
    );
    await waitFor(async () => expect(await titles()).toEqual(['/story/s-2?chat=1']));
    expect((field() as HTMLInputElement).value).toBe('画皮');
    expect(document.activeElement).not.toBe(field());
  });

  test('says what else to try where nothing is found', async () => {
    const { user } = openList(() => pageDto([]));
    await user.type(await searchField(user), '狐狸{Enter}');
    expect(await screen.findByText('没有找到「狐狸」，换个故事名、人物或最后说的话试试')).toBeTruthy();
  });

  test('keeps what was found in sight until the next is there', async () => {
    let answer: (found: unknown) => void = () => {};
    const { user, requests } = openList(({ params }) =>
      params.q === '画' ? pageDto([second]) : new Promise((resolve) => (answer = resolve)),
    );
    await user.type(await searchField(user), '画{Enter}');
    await waitFor(async () => expect(await titles()).toEqual(['/story/s-2?chat=1']));
    await user.type(await searchField(user), '皮{Enter}');
    await waitFor(() => expect(asked(requests)).toEqual(['画', '画皮']));
    expect(await titles()).toEqual(['/story/s-2?chat=1']);
    answer(pageDto([]));
    expect(await screen.findByText(/没有找到「画皮」/)).toBeTruthy();
  });

  test('shows rows of other words as such until the answer is there', async () => {
    let answer: (found: unknown) => void = () => {};
    const { user, requests } = openList(() => new Promise((resolve) => (answer = resolve)));
    expect(await screen.findByText(texts.list.end)).toBeTruthy();
    await user.type(await searchField(user), '狐{Enter}');
    await waitFor(() => expect(asked(requests)).toEqual(['狐']));
    const rows = screen.getByRole('list', { name: texts.list.label });
    expect(rows.closest('[aria-busy="true"]')).toBeTruthy();
    expect(screen.queryByText(texts.list.end)).toBeNull();
    await act(async () => answer(pageDto([conversationDto()])));
    expect(screen.getByRole('list', { name: texts.list.label }).closest('[aria-busy="true"]')).toBeNull();
  });

  test('says of no words that nothing was found before their answer is there', async () => {
    let answer: (found: unknown) => void = () => {};
    const { user, requests } = openList(({ params }) =>
      params.q === '狐' ? pageDto([]) : new Promise((resolve) => (answer = resolve)),
    );
    await user.type(await searchField(user), '狐{Enter}');
    expect(await screen.findByText(/没有找到「狐」/)).toBeTruthy();
    await user.type(await searchField(user), '狸{Enter}');
    await waitFor(() => expect(asked(requests)).toEqual(['狐', '狐狸']));
    expect(screen.queryByText(/没有找到/)).toBeNull();
    answer({ status: 500, body: { message: '册子丢了' } });
    expect(await screen.findByText('册子丢了')).toBeTruthy();
    expect(screen.queryByText(/没有找到/)).toBeNull();
  });

  test('that fails says so and tries again', async () => {
    let works = false;
    const { user } = openList(() => (works ? pageDto([second]) : { status: 500, body: { message: '册子丢了' } }));
    await user.type(await searchField(user), '画{Enter}');
    expect(await screen.findByText('册子丢了')).toBeTruthy();
    works = true;
    await user.click(screen.getByRole('button', { name: '重试' }));
    await waitFor(async () => expect(await titles()).toEqual(['/story/s-2?chat=1']));
  });
});
