import { outboxStore } from '@liaozhai/shared/runtime';
import { onTestEnd, screen, waitFor } from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { latestDto, messageDto, messageEvent } from '../fixtures';
import { field, LATEST, openChat, replyLine, SEND, sends, userLine, write } from '../testing/chatting';

const refused = { status: 422, body: { message: '太长了', errors: { body: ['太长了'] } } };

const ownLine = messageDto({ seq: 3, role: 'user', body: '“**莫怕**”，*我点灯*', client_id: 'client-3' });
const reply = messageDto({ seq: 4, body: '*她抬头*\n\n“你来了。”' });

describe('the menu of a line', () => {
  test('tells whose line it is, and which one', async () => {
    const { user } = openChat({ [LATEST]: latestDto([userLine, replyLine, ownLine, reply]) });
    const names = async () =>
      (await screen.findAllByRole('button', { name: /更多操作/ })).map((button) => button.getAttribute('aria-label'));
    expect(await names()).toEqual([
      '我的消息，更多操作：谁在门外？',
      '聂小倩的消息，更多操作：她提着灯，站了许久。',
      '我的消息，更多操作：“莫怕”，我点灯',
      '聂小倩的消息，更多操作：她抬头 “你来了。”',
    ]);
    await user.click(screen.getByRole('button', { name: '我的消息，更多操作：谁在门外？' }));
    expect(await screen.findByRole('dialog', { name: '我的消息' })).toBeTruthy();
    await user.click(screen.getByRole('button', { name: '关闭' }));
    await user.click(screen.getByRole('button', { name: '聂小倩的消息，更多操作：她提着灯，站了许久。' }));
    expect(await screen.findByRole('dialog', { name: '聂小倩的消息' })).toBeTruthy();
  });

  test('copies the words as they are read, without marks', async () => {
    const { user } = openChat({ [LATEST]: latestDto([userLine, replyLine, ownLine, reply]) });
    const copied: string[] = [];
    for (const name of ['我的消息，更多操作：“莫怕”，我点灯', '聂小倩的消息，更多操作：她抬头 “你来了。”']) {
      await user.click(await screen.findByRole('button', { name }));
      await user.click(await screen.findByRole('button', { name: '复制' }));
      copied.push(await navigator.clipboard.readText());
    }
    expect(copied).toEqual(['“莫怕”，我点灯', '她抬头\n\n“你来了。”']);
  });

  test.each([
    ['MicroMessenger/8.0.49', '长按图片，就能保存或转发', 0],
    ['Chrome/126.0.0.0', '可以加上前后几条', 1],
  ])('opens a picture that %s can save', async (agent, hint, links) => {
    const agentOf = rs.spyOn(navigator, 'userAgent', 'get').mockReturnValue(`Mozilla/5.0 (Linux; Android 14) ${agent}`);
    onTestEnd(() => agentOf.mockRestore());
    // nothing can be drawn here
    Object.defineProperty(document, 'fonts', { configurable: true, value: { ready: new Promise(() => {}) } });
    onTestEnd(() => Reflect.deleteProperty(document, 'fonts'));
    const { user } = openChat({ [LATEST]: latestDto([userLine, replyLine]) });
    await user.click(await screen.findByRole('button', { name: /^聂小倩的消息，更多操作/ }));
    await user.click(await screen.findByRole('button', { name: '生成图片' }));
    expect((await screen.findByRole('dialog', { name: '生成图片' })).textContent).toContain(hint);
    expect(screen.queryAllByText('保存图片')).toHaveLength(links);
  });

  test('puts its words back after what has been written since', async () => {
    const { user } = openChat({ [SEND]: refused });
    await write(user, '谁在门外？');
    await screen.findByText('太长了');
    await user.type(await field(), '天快亮了');
    await user.click(screen.getByRole('button', { name: /更多操作/ }));
    await user.click(await screen.findByText('放回输入框'));
    expect(await field()).toHaveProperty('value', '天快亮了\n谁在门外？');
    await waitFor(async () => expect(document.activeElement).toBe(await field()));
    await waitFor(async () => expect(await outboxStore.all()).toEqual([]));
  });

  test('no longer offers to take it back once it has gone out', async () => {
    const { user, live, requests } = openChat({
      [LATEST]: latestDto([userLine, messageDto({ seq: 2, body: '', status: 'pending' })]),
      [SEND]: () => new Promise(() => {}),
    });
    await screen.findByText('排队中');
    await write(user, '后来呢？');
    await screen.findByText('等这一段写完就发出');
    const [, own] = screen.getAllByRole('button', { name: /更多操作/ });
    await user.click(own ?? document.body);
    expect(await screen.findByText('删除这条')).toBeTruthy();
    live.push('message.completed', messageEvent({ ...replyLine, version: 3 }));
    await waitFor(() => expect(sends(requests)).toHaveLength(1));
    await waitFor(() => expect(screen.queryByText('删除这条')).toBeNull());
    expect(screen.queryByText('放回输入框')).toBeNull();
    expect(screen.getByText('后来呢？')).toBeTruthy();
  });
});

test.each([
  [/^继续/, 'POST /v1/messages/continue', '没能续写，请再试一次'],
  [/^灵感/, 'POST /v1/messages/suggestion', '没能找到灵感，请再试一次'],
])('what the page itself filled in wrong is no mistake of the reader: %s', async (name, call, words) => {
  onTestEnd(() => rs.restoreAllMocks());
  rs.spyOn(console, 'warn').mockImplementation(() => {});
  const errors = { message_id: ['The selected message id is invalid.'] };
  const { user } = openChat({
    [LATEST]: latestDto([userLine, replyLine]),
    [call]: { status: 422, body: { message: 'The given data was invalid.', errors } },
  });
  await user.click(await screen.findByRole('button', { name }));
  expect(await screen.findByText(words)).toBeTruthy();
  expect(screen.queryByText(/有误/)).toBeNull();
});
