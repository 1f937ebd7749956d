import { api, drafts, outboxStore, session, store } from '@liaozhai/shared/runtime';
import {
  fireEvent,
  memberDto,
  offline,
  onTestEnd,
  type RecordedRequest,
  screen,
  waitFor,
  within,
} from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { conversationDto, deltaDto, latestDto, messageDto, messageEvent } from '../fixtures';
import {
  bodyOf,
  field,
  LATEST,
  openChat,
  openRestartable,
  RESTART,
  replyLine,
  SEND,
  secondSentDto,
  sendButton,
  sends,
  sentDto,
  userLine,
  write,
} from '../testing/chatting';

const running = messageDto({ seq: 2, version: 2, body: '月色', status: 'streaming', cost: 2 });
const stopped = messageDto({ seq: 2, version: 3, body: '月色正好', status: 'cancelled', cost: 2 });
const STOP = 'POST /v1/messages/m-2/cancel';
const stopButton = () => screen.findByRole('button', { name: '停止' });
const asksOf = (requests: RecordedRequest[], call: string) =>
  requests.filter(({ method, url }) => `${method} ${url}` === call);
const said = () => store.getState().toasts.map(({ text }) => text);

test('a hidden tab says in its title that replies have come, until it is looked at', async () => {
  const { live } = openChat({ [LATEST]: latestDto([userLine, running]) });
  await screen.findByText('月色');
  document.title = '聂小倩 · 聊斋';
  const isSeen = (state: 'hidden' | 'visible') => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: state });
    document.dispatchEvent(new Event('visibilitychange'));
  };
  onTestEnd(() => void Reflect.deleteProperty(document, 'visibilityState'));
  isSeen('hidden');
  live.push('message.completed', messageEvent({ ...running, version: 3, status: 'completed', body: '月色正好' }));
  await waitFor(() => expect(document.title).toBe('回复完成 · 聂小倩 · 聊斋'));
  live.push('message.created', messageEvent(messageDto({ seq: 3, version: 4, status: 'streaming', body: '她' })));
  await screen.findByText('她');
  live.push('message.failed', messageEvent(messageDto({ seq: 3, version: 5, status: 'failed', body: '她' })));
  await waitFor(() => expect(document.title).toContain('回复中断'));
  isSeen('visible');
  await waitFor(() => expect(document.title).toBe('聂小倩 · 聊斋'));
});

test('a completed reply without text shows that it has none', async () => {
  openChat({ [LATEST]: latestDto([userLine, messageDto({ seq: 2, version: 2, body: '', status: 'completed' })]) });
  expect(await screen.findByText('（内容无法显示）')).toBeTruthy();
});

test.each([
  ['pending', '', '排队中'],
  ['streaming', '', '正在书写'],
  ['streaming', '月色', null],
  ['completed', '月色', null],
  ['completed', '', '（内容无法显示）'],
  ['cancelled', '月色', '已停止'],
  ['failed', '月色', '回复中断，可以续写'],
] as const)('a %s reply with the text %j has the state %j', async (status, body, state) => {
  openChat({ [LATEST]: latestDto([userLine, messageDto({ seq: 2, version: 2, body, status })]) });
  const replies = await screen.findAllByRole('article', { name: '聂小倩' });
  const row = within(replies.at(-1) as HTMLElement);
  const states = ['排队中', '正在书写', '（内容无法显示）', '已停止', '回复中断，可以续写'];
  expect(states.filter((text) => row.queryByText(text))).toEqual(state === null ? [] : [state]);
  expect(row.queryAllByRole('button', { name: /^继续/ })).toHaveLength(
    status === 'cancelled' || status === 'failed' ? 1 : 0,
  );
});

describe('停止', () => {
  const capabilities = ['messages.cancel'] as const;

  test('ends the reply though the answer names only its state', async () => {
    const running = messageDto({ seq: 2, version: 2, body: '月色正好', status: 'streaming', cost: 2 });
    const { user } = openChat(
      {
        [LATEST]: latestDto([userLine, running]),
        [STOP]: { message: { id: 'm-2', body: '月色正好', status: 'cancelled' } },
      },
      { capabilities },
    );
    await user.click(await stopButton());
    expect(await screen.findByText('已停止')).toBeTruthy();
  });

  test('stands where 发送 does while a reply is being written, keeps its text and leads on', async () => {
    const { user, live, requests } = openChat(
      { [LATEST]: latestDto([userLine, running]), [STOP]: { message: stopped, balance: 98 } },
      { capabilities },
    );
    const stop = await stopButton();
    expect(screen.queryByRole('button', { name: '发送' })).toBeNull();
    live.push('message.delta', deltaDto({ offset: 2, text: '正' }));
    await user.click(stop);
    expect(await screen.findByText('已停止')).toBeTruthy();
    expect(screen.getByText('月色正好')).toBeTruthy();
    expect(await screen.findByText('回复已停止')).toBeTruthy();
    expect(screen.getByRole('button', { name: '发送' })).toBeTruthy();
    expect(screen.queryByRole('button', { name: '停止' })).toBeNull();
    expect(asksOf(requests, STOP).map(({ body }) => body)).toEqual([{ revision: 1 }]);
    expect(screen.getByText('已停止').nextElementSibling?.textContent).toBe('继续');
  });

  test('leaves no mark where it cut an action short', async () => {
    openChat({
      [LATEST]: latestDto([userLine, messageDto({ seq: 2, body: '“你来了。”\n\n*她把灯', status: 'cancelled' })]),
    });
    expect((await screen.findByText('她把灯')).tagName).toBe('EM');
    expect(screen.queryByText(/\*/)).toBeNull();
  });

  test('leaves a line that is being typed its way: it waits, and goes once the reply has been stopped', async () => {
    const { user, requests } = openChat(
      {
        [LATEST]: latestDto([userLine, running]),
        [STOP]: { message: stopped, balance: 98 },
        [SEND]: secondSentDto,
      },
      { capabilities },
    );
    await stopButton();
    await write(user, '后来呢？');
    await screen.findByText('等这一段写完就发出');
    expect(sends(requests)).toHaveLength(0);
    await user.click(await stopButton());
    await waitFor(() => expect(sends(requests).map((request) => bodyOf(request).body)).toEqual(['后来呢？']));
  });

  test('is requested once, however often it is tapped', async () => {
    const { user, requests } = openChat(
      { [LATEST]: latestDto([userLine, running]), [STOP]: () => new Promise(() => {}) },
      { capabilities },
    );
    await user.click(await stopButton());
    await waitFor(() =>
      expect(screen.getByRole('button', { name: '停止' }).getAttribute('aria-disabled')).toBe('true'),
    );
    await user.click(await stopButton());
    expect(asksOf(requests, STOP)).toHaveLength(1);
  });

  test('does not take the second half of a double tap on 发送', async () => {
    const { requests } = openChat({ [LATEST]: latestDto([userLine, running]), [STOP]: stopped }, { capabilities });
    fireEvent.click(await stopButton(), { detail: 2 });
    expect(asksOf(requests, STOP)).toHaveLength(0);
  });

  test('says that it did not work without a network, and works once there is one', async () => {
    let isUp = false;
    const { user } = openChat(
      {
        [LATEST]: () => {
          if (!isUp && screen.queryByRole('button', { name: '停止' })) throw offline();
          return latestDto([userLine, running]);
        },
        [STOP]: () => {
          if (!isUp) throw offline();
          return { message: stopped, balance: 98 };
        },
      },
      { capabilities },
    );
    await user.click(await stopButton());
    await waitFor(() => expect(said()).toHaveLength(1));
    isUp = true;
    await user.click(await stopButton());
    expect(await screen.findByText('已停止')).toBeTruthy();
  });

  test('says nothing where the reply has ended meanwhile', async () => {
    let isDone = false;
    const { user } = openChat(
      {
        [LATEST]: () => latestDto([userLine, isDone ? { ...replyLine, version: 3 } : running]),
        [STOP]: () => {
          isDone = true;
          throw offline();
        },
      },
      { capabilities },
    );
    await user.click(await stopButton());
    expect(await screen.findByText(replyLine.body ?? '')).toBeTruthy();
    expect(said()).toEqual([]);
  });

  test('shows on every device', async () => {
    const { live } = openChat({ [LATEST]: latestDto([userLine, running]) }, { capabilities });
    await stopButton();
    live.push('message.completed', messageEvent(stopped));
    expect(await screen.findByText('已停止')).toBeTruthy();
    expect(screen.getByText('月色正好')).toBeTruthy();
  });

  test('before the first word leaves a reply that is bought as a whole', async () => {
    const { user, requests } = openChat(
      {
        [LATEST]: latestDto([userLine, { ...stopped, body: '', cost: 0 }]),
        'POST /v1/messages/continue': { status: 202, body: { message: { ...running, version: 4 }, balance: 98 } },
      },
      { capabilities, user: { balance: 1 } },
    );
    const state = await screen.findByText('已停止');
    await user.click(state.nextElementSibling ?? state);
    // a message costs 2 points
    expect(await screen.findByRole('dialog', { name: '点数不够' })).toBeTruthy();
    expect(asksOf(requests, 'POST /v1/messages/continue')).toHaveLength(0);
  });

  test('is not offered where the server cannot stop a reply', async () => {
    openChat({ [LATEST]: latestDto([userLine, running]) });
    await screen.findByText('月色');
    expect(screen.queryByRole('button', { name: '停止' })).toBeNull();
    expect(screen.getByRole('button', { name: '发送' })).toBeTruthy();
    expect(await field()).toBeTruthy();
  });
});

describe('换一种说法', () => {
  const capabilities = ['messages.regenerate'] as const;
  const RETELL = 'POST /v1/messages/m-2/regenerate';
  const CHOOSE = 'POST /v1/messages/m-2/variant';
  const begun = messageDto({ seq: 2, version: 3, revision: 2, body: '', status: 'pending', variant: 2, variants: 2 });
  const retold = { ...begun, version: 4, status: 'completed', body: '灯影摇了摇。' };
  const retellButton = () => screen.findByRole('button', { name: '换一种说法 · 2 点' });

  test('names its price, begins again in the place of the reply and counts the texts', async () => {
    const { user, live, requests } = openChat(
      { [LATEST]: latestDto([userLine, replyLine]), [RETELL]: { status: 202, body: { message: begun, balance: 98 } } },
      { capabilities },
    );
    await user.click(await retellButton());
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(screen.queryByText(replyLine.body ?? '')).toBeNull();
    expect(await screen.findByText('每条 2 点 · 余额 98 点')).toBeTruthy();
    live.push('message.completed', messageEvent(retold));
    expect(await screen.findByText('灯影摇了摇。')).toBeTruthy();
    expect(screen.getByRole('img', { name: '第 2 种说法，共 2 种' })).toBeTruthy();
    const [sent, ...others] = asksOf(requests, RETELL);
    expect(others).toEqual([]);
    expect(sent?.headers['idempotency-key']).toBe(sent && bodyOf(sent).client_id);
  });

  test('leads back to a former text and on again', async () => {
    const former = { ...retold, version: 5, revision: 3, body: replyLine.body, variant: 1 };
    const { user, requests } = openChat(
      { [LATEST]: latestDto([userLine, retold]), [CHOOSE]: { message: former, balance: 98 } },
      { capabilities },
    );
    expect(await screen.findByRole('button', { name: '下一种说法' })).toHaveProperty('disabled', true);
    await user.click(screen.getByRole('button', { name: '上一种说法' }));
    expect(await screen.findByText(replyLine.body ?? '')).toBeTruthy();
    expect(screen.getByRole('img', { name: '第 1 种说法，共 2 种' })).toBeTruthy();
    expect(screen.getByRole('button', { name: '上一种说法' })).toHaveProperty('disabled', true);
    expect(asksOf(requests, CHOOSE).map(({ body }) => body)).toEqual([{ variant: 1 }]);
  });

  test('stands in the menu of the last reply alone', async () => {
    const { user, requests } = openChat(
      {
        [LATEST]: latestDto([
          userLine,
          replyLine,
          messageDto({ seq: 3, role: 'user', body: '后来呢？' }),
          messageDto({ seq: 4 }),
        ]),
        'POST /v1/messages/m-4/regenerate': { status: 500, body: {} },
      },
      { capabilities },
    );
    expect(await screen.findAllByRole('button', { name: /换一种说法/ })).toHaveLength(1);
    const [first, last] = await screen.findAllByRole('button', { name: /聂小倩的消息，更多操作/ });
    await user.click(first ?? document.body);
    const former = within(await screen.findByRole('dialog', { name: '聂小倩的消息' }));
    expect(former.queryByRole('button', { name: /换一种说法/ })).toBeNull();
    await user.click(former.getByRole('button', { name: '关闭' }));
    await user.click(last ?? document.body);
    const menu = within(await screen.findByRole('dialog', { name: '聂小倩的消息' }));
    await user.click(await menu.findByRole('button', { name: /换一种说法\s*2 点/ }));
    await waitFor(() => expect(said()).toEqual(['没能换一种说法，请再试一次']));
    expect(asksOf(requests, 'POST /v1/messages/m-4/regenerate')).toHaveLength(1);
    expect(screen.getByText('每条 2 点 · 余额 100 点')).toBeTruthy();
  });

  test('is refused in words where the reply was continued instead', async () => {
    let latest = latestDto([userLine, replyLine]);
    const { user } = openChat(
      {
        [LATEST]: () => latest,
        [RETELL]: () => {
          latest = latestDto([userLine, { ...replyLine, version: 3, revision: 2, body: '她提着灯，走了。' }]);
          return { status: 409, body: { message: '这一段已经变了' } };
        },
      },
      { capabilities },
    );
    await user.click(await retellButton());
    await waitFor(() => expect(said()).toEqual(['这一段已经变了']));
  });

  test('and the former texts wait while one of them is being ordered', async () => {
    let answer = (_: object) => {};
    const former = { ...retold, version: 5, revision: 3, body: replyLine.body, variant: 1 };
    const { user } = openChat(
      { [LATEST]: latestDto([userLine, retold]), [CHOOSE]: () => new Promise((resolve) => (answer = resolve)) },
      { capabilities },
    );
    await user.click(await screen.findByRole('button', { name: '上一种说法' }));
    expect(await retellButton()).toHaveProperty('disabled', true);
    expect(screen.getByRole('button', { name: '上一种说法' })).toHaveProperty('disabled', true);
    await user.click(await screen.findByRole('button', { name: /聂小倩的消息，更多操作/ }));
    const menu = within(await screen.findByRole('dialog', { name: '聂小倩的消息' }));
    expect(await menu.findByRole('button', { name: /复制/ })).toBeTruthy();
    expect(menu.queryByRole('button', { name: /继续|换一种说法/ })).toBeNull();
    answer({ message: former, balance: 98 });
    expect(await screen.findByRole('img', { name: '第 1 种说法，共 2 种', hidden: true })).toBeTruthy();
    expect(await menu.findByRole('button', { name: /继续/ })).toBeTruthy();
  });

  test('goes again under the same key where nobody knows what became of it, and is bought once', async () => {
    let isUp = false;
    const { user, requests } = openChat(
      {
        [LATEST]: latestDto([userLine, replyLine]),
        [RETELL]: () => {
          if (!isUp) throw offline();
          return { status: 202, body: { message: begun, balance: 98 } };
        },
      },
      { capabilities },
    );
    await user.click(await retellButton());
    await waitFor(() => expect(said()).toHaveLength(1));
    isUp = true;
    await user.click(await retellButton());
    expect(await screen.findByText('排队中')).toBeTruthy();
    const [first, second] = asksOf(requests, RETELL);
    expect(second?.body).toEqual(first?.body);
  });

  test('says nothing of a lost answer whose order was carried out', async () => {
    let isBegun = false;
    const { user } = openChat(
      {
        [LATEST]: () => latestDto([userLine, isBegun ? begun : replyLine]),
        [RETELL]: () => {
          isBegun = true;
          throw offline();
        },
      },
      { capabilities },
    );
    await user.click(await retellButton());
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(said()).toEqual([]);
  });

  test('with too few points leads to more', async () => {
    const { user, requests } = openChat(
      { [LATEST]: latestDto([userLine, replyLine]) },
      { capabilities, user: { balance: 1 } },
    );
    await user.click(await retellButton());
    expect(await screen.findByRole('dialog', { name: '点数不够' })).toBeTruthy();
    expect(asksOf(requests, RETELL)).toHaveLength(0);
  });

  test('of a reply that was stopped before its first word is 再写一次, in the place of 继续', async () => {
    openChat({ [LATEST]: latestDto([userLine, { ...stopped, body: '', cost: 0 }]) }, { capabilities });
    expect(await screen.findByRole('button', { name: '再写一次 · 2 点' })).toBeTruthy();
    expect((await screen.findByText('已停止')).nextElementSibling).toBeNull();
  });

  test('is not offered while a reply is being written, nor where the server cannot', async () => {
    const { unmount } = openChat({ [LATEST]: latestDto([userLine, running]) }, { capabilities });
    await screen.findByText('月色');
    expect(screen.queryByRole('button', { name: /换一种说法/ })).toBeNull();
    unmount();
    store.dispatch(api.util.resetApiState());
    openChat({ [LATEST]: latestDto([userLine, replyLine]) });
    await screen.findByText(replyLine.body ?? '');
    expect(screen.queryByRole('button', { name: /换一种说法/ })).toBeNull();
  });
});

describe('编辑', () => {
  const capabilities = ['messages.edit'] as const;
  const EDIT = 'POST /v1/messages/m-1/edit';
  const further = [
    messageDto({ seq: 3, role: 'user', body: '后来呢？', client_id: 'client-3' }),
    messageDto({ seq: 4 }),
  ];
  /** Response to an edit: the line, its new reply and the new balance. */
  const edited = (request: RecordedRequest) => ({
    status: 201,
    body: {
      message: { ...userLine, version: 10, revision: 2, body: bodyOf(request).body },
      reply: messageDto({ id: 'm-20', seq: 2, version: 11, body: '', status: 'pending', cost: 2 }),
      conversation: conversationDto({ version: 11, last_seq: 2 }),
      balance: 98,
    },
  });
  const openMenu = async (user: ReturnType<typeof openChat>['user'], words: string) => {
    await user.click(await screen.findByRole('button', { name: `我的消息，更多操作：${words}` }));
    await user.click(await screen.findByRole('button', { name: '编辑' }));
  };
  const rewrite = async (text: string) => fireEvent.input(await field(), { target: { value: text } });

  test('brings the words into the composer, replaces line and reply, and gives back what stood there', async () => {
    const { user, requests } = openChat(
      { [LATEST]: latestDto([userLine, replyLine]), [EDIT]: edited },
      { capabilities },
    );
    await user.type(await field(), '写了一半');
    await openMenu(user, '谁在门外？');
    expect(screen.getByText('正在编辑')).toBeTruthy();
    expect(screen.getByText('发出后，回复会重写')).toBeTruthy();
    expect(await field()).toHaveProperty('value', '谁在门外？');
    await waitFor(async () => expect(document.activeElement).toBe(await field()));
    await rewrite('谁在窗外？');
    await user.click(sendButton());
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(screen.getByText('谁在窗外？')).toBeTruthy();
    expect(screen.queryByText(replyLine.body ?? '')).toBeNull();
    await waitFor(() => expect(screen.queryByText('正在编辑')).toBeNull());
    expect(await field()).toHaveProperty('value', '写了一半');
    expect(await screen.findByText('每条 2 点 · 余额 98 点')).toBeTruthy();
    const [sent, ...others] = asksOf(requests, EDIT);
    expect(others).toEqual([]);
    expect(sent?.body).toMatchObject({ body: '谁在窗外？', revision: 1, last_seq: 2 });
    expect(sends(requests)).toEqual([]);
  });

  test.each(['null', '5', '{}', '{', '{"id":"m-1","conversationId":"c-1"}'])(
    'that another build has stored as %s goes into the composer as a text',
    async (stored) => {
      session.userReceived(memberDto());
      drafts.write('story.s-1', '写了一半');
      drafts.write('story.s-1.edited', stored);
      drafts.write('story.s-1.edit', '谁在窗外？');
      openChat({ [LATEST]: latestDto([userLine, replyLine]) }, { capabilities });
      await waitFor(async () => expect(await field()).toHaveProperty('value', '写了一半\n谁在窗外？'));
      expect(screen.queryByText('正在编辑')).toBeNull();
      expect(drafts.read('story.s-1.edited')).toBe('');
    },
  );

  test('of an earlier line asks first, with how many messages go', async () => {
    const { user, requests } = openChat(
      { [LATEST]: latestDto([userLine, replyLine, ...further]), [EDIT]: edited },
      { capabilities },
    );
    await openMenu(user, '谁在门外？');
    expect(screen.getByText('发出后，后面的 3 条会删去')).toBeTruthy();
    await rewrite('谁在窗外？');
    await user.click(sendButton());
    const question = within(await screen.findByRole('alertdialog', { name: '改了再发？' }));
    expect(question.getByText('后面的 3 条会删去，已花的点数不退还。')).toBeTruthy();
    await user.click(question.getByRole('button', { name: '再想想' }));
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    expect(asksOf(requests, EDIT)).toEqual([]);
    expect(await field()).toHaveProperty('value', '谁在窗外？');
    await user.click(sendButton());
    await user.click(await screen.findByRole('button', { name: '删去并发送' }));
    await waitFor(() => expect(screen.queryByText('后来呢？')).toBeNull());
    expect(screen.getByText('谁在窗外？')).toBeTruthy();
  });

  test('keeps the words where another device has changed the line, and replaces that by a second tap', async () => {
    let latest = latestDto([userLine, replyLine]);
    const elsewhere = { ...userLine, version: 3, revision: 2, body: '谁在敲门？' };
    const { user, requests } = openChat(
      {
        [LATEST]: () => latest,
        [EDIT]: (request: RecordedRequest) => {
          if ((request.body as { revision: number }).revision === 2) return edited(request);
          latest = latestDto([elsewhere, messageDto({ ...replyLine, version: 4 })]);
          return { status: 409, body: { message: '这一句已经变了' } };
        },
      },
      { capabilities },
    );
    await openMenu(user, '谁在门外？');
    await rewrite('谁在窗外？');
    await user.click(sendButton());
    await waitFor(() => expect(said()).toEqual(['这一句已经变了']));
    expect(screen.getByText('正在编辑')).toBeTruthy();
    expect(await field()).toHaveProperty('value', '谁在窗外？');
    await screen.findByText('谁在敲门？');
    await user.click(sendButton());
    await waitFor(() => expect(asksOf(requests, EDIT)).toHaveLength(2));
    expect(await screen.findByText('谁在窗外？')).toBeTruthy();
  });

  test('can be left, and outlives the page', async () => {
    const handlers = { [LATEST]: latestDto([userLine, replyLine]), [EDIT]: edited };
    const first = openChat(handlers, { capabilities });
    await first.user.type(await field(), '写了一半');
    await openMenu(first.user, '谁在门外？');
    await rewrite('谁在窗外？');
    first.unmount();
    const { user } = openChat(handlers, { capabilities });
    expect(await screen.findByText('正在编辑')).toBeTruthy();
    expect(await field()).toHaveProperty('value', '谁在窗外？');
    await user.click(screen.getByRole('button', { name: '取消编辑' }));
    expect(screen.queryByText('正在编辑')).toBeNull();
    expect(await field()).toHaveProperty('value', '写了一半');
  });

  test('that does not go through keeps the words, and goes again under the same key', async () => {
    let isUp = false;
    const { user, requests } = openChat(
      {
        [LATEST]: latestDto([userLine, replyLine]),
        [EDIT]: (request: RecordedRequest) => {
          if (!isUp) throw offline();
          return edited(request);
        },
      },
      { capabilities },
    );
    await openMenu(user, '谁在门外？');
    await rewrite('谁在窗外？');
    await user.click(sendButton());
    await waitFor(() => expect(said()).toHaveLength(1));
    expect(await field()).toHaveProperty('value', '谁在窗外？');
    expect(screen.getByText('每条 2 点 · 余额 100 点')).toBeTruthy();
    isUp = true;
    await user.click(sendButton());
    expect(await screen.findByText('排队中')).toBeTruthy();
    const [once, again] = asksOf(requests, EDIT);
    expect(again?.body).toEqual(once?.body);
  });

  test('under way says so, and cannot be cancelled', async () => {
    let accept = () => {};
    const late = (request: RecordedRequest) => new Promise((resolve) => (accept = () => resolve(edited(request))));
    const handlers = { [LATEST]: latestDto([userLine, replyLine]), [EDIT]: late };
    const first = openChat(handlers, { capabilities });
    await openMenu(first.user, '谁在门外？');
    await rewrite('谁在窗外？');
    await first.user.click(sendButton());
    expect(await screen.findByText('正在发出……')).toBeTruthy();
    first.unmount();
    openChat(handlers, { capabilities });
    expect(await screen.findByText('正在发出……')).toBeTruthy();
    expect(screen.getByRole('button', { name: '取消编辑' })).toHaveProperty('disabled', true);
    accept();
    await waitFor(() => expect(screen.queryByText('正在编辑')).toBeNull());
    expect(await field()).toHaveProperty('value', '');
  });

  test('that is accepted late leaves the text of the next one, which goes under the new revision', async () => {
    let accept = () => {};
    let asked = 0;
    const { user, requests, live } = openChat(
      {
        [LATEST]: latestDto([userLine, replyLine]),
        [EDIT]: (request: RecordedRequest) => {
          asked += 1;
          return asked === 1 ? new Promise((resolve) => (accept = () => resolve(edited(request)))) : edited(request);
        },
      },
      { capabilities },
    );
    await openMenu(user, '谁在门外？');
    await rewrite('谁在窗外？');
    await user.click(sendButton());
    await waitFor(() => expect(asksOf(requests, EDIT)).toHaveLength(1));
    await openMenu(user, '谁在门外？');
    await rewrite('谁在墙外？');
    accept();
    expect(await screen.findByText('排队中')).toBeTruthy();
    await waitFor(() => expect(screen.queryByText('正在发出……')).toBeNull());
    expect(await field()).toHaveProperty('value', '谁在墙外？');
    live.push('message.completed', messageEvent(messageDto({ id: 'm-20', seq: 2, version: 12, body: '是我。' })));
    await screen.findByText('是我。');
    await user.click(sendButton());
    await waitFor(() => expect(asksOf(requests, EDIT)).toHaveLength(2));
    expect(asksOf(requests, EDIT)[1]?.body).toMatchObject({ body: '谁在墙外？', revision: 2 });
  });

  test('waits while a reply is being written', async () => {
    const { user } = openChat({ [LATEST]: latestDto([userLine, running]) }, { capabilities });
    await openMenu(user, '谁在门外？');
    expect(screen.getByText('等这一段写完再发')).toBeTruthy();
    expect(sendButton()).toHaveProperty('disabled', true);
  });

  test('elsewhere takes away what followed, also where its event was lost', async () => {
    const line = { ...userLine, version: 10, revision: 2, body: '谁在窗外？' };
    const reply = messageDto({ id: 'm-20', seq: 2, version: 11, body: '', status: 'pending' });
    let isEdited = false;
    const { live } = openChat(
      { [LATEST]: () => (isEdited ? latestDto([line, reply]) : latestDto([userLine, replyLine, ...further])) },
      { capabilities },
    );
    await screen.findByText('后来呢？');
    live.push('message.created', { ...messageEvent({ ...line, version: 5 }), version: 5, last_seq: 1 });
    await waitFor(() => expect(screen.queryByText('后来呢？')).toBeNull());
    expect(screen.getByText('谁在窗外？')).toBeTruthy();
    live.push('message.created', messageEvent(messageDto({ seq: 3, version: 7, role: 'user', body: '再问一句' })));
    isEdited = true;
    await screen.findByText('排队中');
    await waitFor(() => expect(screen.queryByText('再问一句')).toBeNull());
  });

  test('leaves its words to the composer where the line is gone', async () => {
    const { user, live } = openChat({ [LATEST]: latestDto([userLine, replyLine]) }, { capabilities });
    await user.type(await field(), '写了一半');
    await openMenu(user, '谁在门外？');
    live.push('conversation.deleted', { id: 'c-1' });
    await waitFor(() => expect(screen.queryByText('正在编辑')).toBeNull());
    expect(await field()).toHaveProperty('value', '写了一半\n谁在门外？');
  });

  test('is not offered where the server cannot', async () => {
    const { user } = openChat({ [LATEST]: latestDto([userLine, replyLine]) });
    await user.click(await screen.findByRole('button', { name: '我的消息，更多操作：谁在门外？' }));
    expect(await screen.findByRole('button', { name: '复制' })).toBeTruthy();
    expect(screen.queryByRole('button', { name: '编辑' })).toBeNull();
  });
});

describe('重新开始', () => {
  const capabilities = ['conversations.restart'] as const;
  const again = { data: conversationDto({ version: 3, last_seq: 0, last_message: null }) };
  const ask = async (user: ReturnType<typeof openChat>['user']) => {
    await user.click(await screen.findByRole('button', { name: '这段对话的更多操作' }));
    await user.click(await screen.findByRole('button', { name: '重新开始' }));
    return within(await screen.findByRole('alertdialog', { name: '重新开始这个故事？' }));
  };

  test.each([{ status: 204 }, {}, { message: '已重新开始' }])(
    'is done where the server only says so: %j',
    async (answer) => {
      const { user, requests } = openRestartable(answer, { capabilities });
      await user.click((await ask(user)).getByRole('button', { name: '重新开始' }));
      await waitFor(() => expect(said()).toEqual(['回到开篇了']));
      expect(screen.queryByText('谁在门外？')).toBeNull();
      expect(asksOf(requests, RESTART)).toHaveLength(1);
    },
  );

  test('says what goes, and leaves the opening', async () => {
    const { user, requests } = openRestartable(again, { capabilities });
    const question = await ask(user);
    expect(question.getByText('说过的话都会删去，回到开篇；已花的点数不退还。')).toBeTruthy();
    await user.click(question.getByRole('button', { name: '再想想' }));
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    expect(asksOf(requests, RESTART)).toEqual([]);
    await user.click((await ask(user)).getByRole('button', { name: '重新开始' }));
    await waitFor(() => expect(screen.queryByText('谁在门外？')).toBeNull());
    expect(screen.getByText('开篇')).toBeTruthy();
    expect(said()).toEqual(['回到开篇了']);
    expect(asksOf(requests, RESTART)).toHaveLength(1);
  });

  test('that does not go through takes nothing away', async () => {
    const { user } = openChat(
      {
        [LATEST]: latestDto([userLine, replyLine]),
        [RESTART]: () => {
          throw offline();
        },
      },
      { capabilities },
    );
    await user.click((await ask(user)).getByRole('button', { name: '重新开始' }));
    await waitFor(() => expect(said()).toHaveLength(1));
    expect(screen.getByText('谁在门外？')).toBeTruthy();
  });

  test('under way says so and lets nothing out, which its end would delete', async () => {
    let finish = () => {};
    const late = new Promise((resolve) => (finish = () => resolve(again)));
    const { user, requests } = openRestartable(late, { capabilities }, { [SEND]: sentDto });
    await user.click((await ask(user)).getByRole('button', { name: '重新开始' }));
    expect(await screen.findByText('正在回到开篇……')).toBeTruthy();
    expect(screen.queryByRole('button', { name: /^继续/ })).toBeNull();
    await user.type(await field(), '从头来');
    fireEvent.keyDown(await field(), { key: 'Enter' });
    expect(sendButton()).toHaveProperty('disabled', true);
    expect(screen.getByText('谁在门外？')).toBeTruthy();
    finish();
    await waitFor(() => expect(said()).toEqual(['回到开篇了']));
    expect(screen.queryByText('正在回到开篇……')).toBeNull();
    expect(sends(requests)).toEqual([]);
    expect(await field()).toHaveProperty('value', '从头来');
    await user.click(sendButton());
    await waitFor(() => expect(sends(requests).map((request) => bodyOf(request).body)).toEqual(['从头来']));
  });

  test('under way holds back a line that waits for the reply before it', async () => {
    let finish = () => {};
    const late = new Promise((resolve) => (finish = () => resolve(again)));
    let latest = latestDto([userLine, messageDto({ seq: 2, status: 'streaming', body: '她' })]);
    const { user, live, requests } = openChat(
      { [LATEST]: () => latest, [RESTART]: () => late, [SEND]: sentDto },
      { capabilities },
    );
    await user.type(await field(), '从头来');
    fireEvent.keyDown(await field(), { key: 'Enter' });
    await waitFor(async () => expect(await outboxStore.all()).toHaveLength(1));
    expect(sends(requests)).toEqual([]);
    await user.click((await ask(user)).getByRole('button', { name: '重新开始' }));
    await screen.findByText('正在回到开篇……');
    live.push('message.completed', messageEvent({ ...replyLine, version: 3 }));
    await screen.findByText('她提着灯，站了许久。');
    expect(sends(requests)).toEqual([]);
    latest = latestDto([], { conversation_id: 'c-1', version: 3, last_seq: 0 });
    finish();
    await waitFor(() => expect(sends(requests)).toHaveLength(1));
  });

  test('under way holds back the line that is tried again', async () => {
    const { user, requests } = openRestartable(
      new Promise(() => {}),
      { capabilities },
      {
        [SEND]: { status: 422, body: { message: '太长了', errors: { body: ['太长了'] } } },
      },
    );
    await write(user, '后来呢？');
    const retry = await screen.findByRole('button', { name: '点按重试' });
    await user.click((await ask(user)).getByRole('button', { name: '重新开始' }));
    await waitFor(() => expect(asksOf(requests, RESTART)).toHaveLength(1));
    await user.click(retry);
    expect(await outboxStore.all()).toMatchObject([{ state: 'failed' }]);
    expect(sends(requests)).toHaveLength(1);
  });

  test('elsewhere leaves the opening, also where its event was lost', async () => {
    let version = 2;
    const { live } = openChat(
      {
        [LATEST]: () =>
          version === 2
            ? latestDto([userLine, replyLine])
            : latestDto([], { conversation_id: 'c-1', version, last_seq: 0 }),
      },
      { capabilities },
    );
    await screen.findByText('谁在门外？');
    live.push('conversation.restarted', { id: 'c-1', conversation_id: 'c-1', version: 3, last_seq: 0 });
    await waitFor(() => expect(screen.queryByText('谁在门外？')).toBeNull());
    expect(screen.getByText('开篇')).toBeTruthy();
    live.push('message.created', messageEvent(messageDto({ seq: 1, version: 4, role: 'user', body: '从头来' })));
    expect(await screen.findByText('从头来')).toBeTruthy();
    // only the gap reveals the next restart
    version = 6;
    live.push(
      'message.created',
      messageEvent(messageDto({ id: 'm-9', seq: 1, version: 6, role: 'user', body: '再来' })),
    );
    await waitFor(() => expect(screen.queryByText('从头来')).toBeNull());
  });

  test('is not offered where the server cannot', async () => {
    openChat({ [LATEST]: latestDto([userLine, replyLine]) });
    await screen.findByText('谁在门外？');
    expect(screen.queryByRole('button', { name: '这段对话的更多操作' })).toBeNull();
  });
});
