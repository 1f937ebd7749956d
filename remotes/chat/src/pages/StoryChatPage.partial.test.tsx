import { type RecordedRequest, screen, waitFor, within } from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { conversationDto, latestDto, messageDto, messageEvent } from '../fixtures';
import {
  field,
  LATEST,
  openChat,
  openRestartable,
  replyLine,
  SEND,
  secondSentDto,
  userLine,
  write,
} from '../testing/chatting';

const own = () => screen.getAllByRole('article', { name: '我' }).map(({ textContent }) => textContent);

describe('an answer that does not name everything', () => {
  test.each([
    ['role', undefined],
    ['role', 'reader'],
    ['body', undefined],
    ['body', null],
    ['body', ''],
  ])('leaves a sent line its speaker and its words: %s is %j', async (name, value) => {
    const { user } = openChat({
      [LATEST]: latestDto([userLine, replyLine]),
      [SEND]: (request: RecordedRequest) => {
        const { status, body } = secondSentDto(request);
        return { status, body: { ...body, message: { ...body.message, [name]: value } } };
      },
    });
    await screen.findByText('谁在门外？');
    await write(user, '请进');
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(own()).toEqual(['⋯谁在门外？', '⋯请进']);
  });

  test('leaves an edited line its new words', async () => {
    const line = { id: 'm-1', revision: 2, version: 10 };
    const reply = messageDto({ seq: 2, id: 'm-9', version: 11, body: '', status: 'pending' });
    const { user } = openChat(
      {
        [LATEST]: latestDto([userLine, replyLine]),
        'POST /v1/messages/m-1/edit': { status: 201, body: { message: line, reply } },
      },
      { capabilities: ['messages.edit'] },
    );
    await user.click(await screen.findByRole('button', { name: '我的消息，更多操作：谁在门外？' }));
    await user.click(await screen.findByRole('button', { name: '编辑' }));
    await user.clear(await field());
    await write(user, '谁在窗外？');
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(own()).toEqual(['⋯谁在窗外？']);
  });

  test('leaves a continued reply the words that it goes on from', async () => {
    const message = { id: 'm-2', status: 'pending', revision: 2, version: 3 };
    const { user } = openChat({
      [LATEST]: latestDto([userLine, replyLine]),
      'POST /v1/messages/continue': { status: 202, body: { message, balance: 98 } },
    });
    await user.click(await screen.findByRole('button', { name: /^继续/ }));
    expect(await screen.findByText('每条 2 点 · 余额 98 点')).toBeTruthy();
    expect(screen.getByText(replyLine.body ?? '')).toBeTruthy();
  });

  test('leads to another variant whose words are read separately', async () => {
    const second = { ...replyLine, body: '灯影摇了摇。', version: 4, revision: 2, variant: 2, variants: 2 };
    const first = { ...second, body: replyLine.body, version: 5, revision: 3, variant: 1 };
    let latest = latestDto([userLine, second]);
    const { user } = openChat(
      {
        [LATEST]: () => latest,
        'POST /v1/messages/m-2/variant': () => {
          latest = latestDto([userLine, first]);
          return { message: { ...first, body: undefined } };
        },
      },
      { capabilities: ['messages.regenerate'] },
    );
    await user.click(await screen.findByRole('button', { name: '上一种说法' }));
    expect(await screen.findByRole('img', { name: '第 1 种说法，共 2 种' })).toBeTruthy();
    expect(screen.getByText(replyLine.body ?? '')).toBeTruthy();
  });

  test('leaves a stopped reply its words', async () => {
    const running = messageDto({ seq: 2, body: '月色', status: 'streaming' });
    const { user } = openChat(
      {
        [LATEST]: latestDto([userLine, running]),
        'POST /v1/messages/m-2/cancel': { message: { id: 'm-2', status: 'cancelled', version: 3 } },
      },
      { capabilities: ['messages.cancel'] },
    );
    await user.click(await screen.findByRole('button', { name: '停止' }));
    expect(await screen.findByText('已停止')).toBeTruthy();
    expect(screen.getByText('月色')).toBeTruthy();
  });
});

const press = async (user: ReturnType<typeof openChat>['user'], name: RegExp | string) =>
  user.click(await screen.findByRole('button', { name }));
const edit = async (user: ReturnType<typeof openChat>['user']) => {
  await press(user, '我的消息，更多操作：谁在门外？');
  await press(user, '编辑');
  await user.clear(await field());
  await write(user, '谁在窗外？');
};
const editedLine = { ...userLine, revision: 2, version: 3, body: '谁在窗外？' };
const rewritten = messageDto({ seq: 2, id: 'm-9', version: 4, body: '', status: 'pending' });
const EDIT = 'POST /v1/messages/m-1/edit';

describe.each([100_000, 1_790_000_000, 1_790_000_000_000])('an answer with the misread version %i', (version) => {
  const retold = messageDto({ seq: 2, revision: 2, version: 3, body: '', status: 'pending' });
  const capabilities = ['messages.regenerate', 'messages.edit', 'conversations.restart'] as const;
  const ended = { version: 5, status: 'completed', body: '灯影摇了摇。' };

  test.each<[string, string, object, (user: ReturnType<typeof openChat>['user']) => Promise<void>, object]>([
    [
      '换一种说法',
      'POST /v1/messages/m-2/regenerate',
      { message: { ...retold, version } },
      (user) => press(user, /^换一种说法/),
      retold,
    ],
    ['继续', 'POST /v1/messages/continue', { message: { ...retold, version } }, (user) => press(user, /^继续/), retold],
    ['编辑', EDIT, { message: { ...editedLine, version }, reply: rewritten }, edit, rewritten],
    ['编辑, in its reply', EDIT, { message: editedLine, reply: { ...rewritten, version } }, edit, rewritten],
  ])('shows the reply to its end: %s', async (_name, call, body, act, reply) => {
    const { user, live } = openChat(
      { [LATEST]: latestDto([userLine, replyLine]), [call]: { status: 202, body } },
      { capabilities },
    );
    await act(user);
    expect(await screen.findByText('排队中')).toBeTruthy();
    live.push('message.completed', messageEvent({ ...messageDto(reply), ...ended }));
    expect(await screen.findByText('灯影摇了摇。')).toBeTruthy();
    expect(screen.queryByText('排队中')).toBeNull();
  });

  test('shows what is sent next: 重新开始', async () => {
    const { user } = openRestartable(
      { data: conversationDto({ version, last_seq: 0, last_message: null }) },
      { capabilities },
      {
        [SEND]: (request: RecordedRequest) => {
          const { status, body } = secondSentDto(request);
          const message = { ...body.message, seq: 1, version: 4 };
          return { status, body: { ...body, message, reply: { ...body.reply, seq: 2, version: 5 } } };
        },
      },
    );
    await press(user, '这段对话的更多操作');
    await press(user, '重新开始');
    await user.click(within(await screen.findByRole('alertdialog')).getByRole('button', { name: '重新开始' }));
    await waitFor(() => expect(screen.queryByText('谁在门外？')).toBeNull());
    await write(user, '从头来');
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(own()).toEqual(['⋯从头来']);
  });
});

test.each([
  [999, 2],
  [1, 999],
  [999, 1],
])('an answer to 编辑 with the seqs %i and %i leaves the line before its reply', async (lineSeq, replySeq) => {
  const { user, live } = openChat(
    {
      [LATEST]: latestDto([userLine, replyLine]),
      [EDIT]: {
        status: 201,
        body: { message: { ...editedLine, seq: lineSeq }, reply: { ...rewritten, seq: replySeq } },
      },
    },
    { capabilities: ['messages.edit'] },
  );
  await edit(user);
  expect(await screen.findByText('排队中')).toBeTruthy();
  live.push('message.completed', messageEvent({ ...rewritten, version: 5, status: 'completed', body: '是风。' }));
  expect(await screen.findByText('是风。')).toBeTruthy();
  const articles = screen.getAllByRole('article').map(({ textContent }) => textContent);
  expect(articles.slice(-2)).toEqual(['⋯谁在窗外？', expect.stringContaining('是风。')]);
});

test('an answer to the choice of a variant that names none shows the chosen one', async () => {
  const first = { ...replyLine, version: 4, variant: 1, variants: 2 };
  const second = { ...first, body: '灯影摇了摇。', version: 5, variant: 2 };
  let latest = latestDto([userLine, first]);
  const { user } = openChat(
    {
      [LATEST]: () => latest,
      'POST /v1/messages/m-2/variant': () => {
        latest = latestDto([userLine, second]);
        return { message: { ...second, variant: 0 } };
      },
    },
    { capabilities: ['messages.regenerate'] },
  );
  await press(user, '下一种说法');
  expect(await screen.findByText(second.body)).toBeTruthy();
  expect(await screen.findByRole('img', { name: '第 2 种说法，共 2 种' })).toBeTruthy();
});

test.each([
  ['has the id of the line', { id: 'm-1' }],
  ['is the user’s', { role: 'user' }],
  ['is in another conversation', { conversation_id: 'c-9' }],
])('an answer whose reply %s leaves the line, and the reply comes by its event', async (_name, patch) => {
  const { user, live } = openChat(
    {
      [LATEST]: latestDto([userLine, replyLine]),
      [EDIT]: { status: 201, body: { message: editedLine, reply: { ...rewritten, ...patch } } },
    },
    { capabilities: ['messages.edit'] },
  );
  await edit(user);
  await waitFor(() => expect(own()).toEqual(['⋯谁在窗外？']));
  expect(screen.queryByText(replyLine.body ?? '')).toBeNull();
  live.push('message.created', messageEvent(rewritten));
  expect(await screen.findByText('排队中')).toBeTruthy();
  expect(own()).toEqual(['⋯谁在窗外？']);
});
