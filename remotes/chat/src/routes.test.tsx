import {
  oddBodies,
  oddRows,
  openRemote,
  programmersWords,
  refuseToDraw,
  screen,
  waitFor,
} from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { conversationDto, latestDto, messageDto, messageEvent, storyDto } from './fixtures';
import remote from './remote';
import { field, LATEST, openChat, replyLine, userLine } from './testing/chatting';

test('聊过 stands with any value in a field of a conversation', async () => {
  const rows = [conversationDto({ id: 'c-good' }), ...oddRows({ ...conversationDto() })];
  openRemote(remote, { 'GET /v1/conversations': { data: rows } }, { path: '/conversations', user: { id: 'u-1' } });
  expect((await screen.findAllByRole('link', { name: /聂小倩/ })).length).toBeGreaterThan(1);
  expect(programmersWords()).toEqual([]);
});

describe('a chat stands with any value in a field of a message', () => {
  const odd = oddBodies({ ...messageDto({ seq: 2, body: '她站了许久。' }) }, ['id', 'body', 'seq']);
  // a message whose seq cannot be parsed
  odd.push(
    ...['', 'x', null, {}, -1, 1e30].map((seq) => ({ ...messageDto({ id: 'm-odd', body: '她站了许久。' }), seq })),
  );
  test.each(odd)('$created_at, in place $seq', async (message) => {
    openChat({ [LATEST]: latestDto([userLine, message as never]) });
    expect(await screen.findByText('谁在门外？')).toBeTruthy();
    expect(await screen.findByText(/她站了许久/)).toBeTruthy();
    expect(programmersWords()).toEqual([]);
  });
});

test('a chat stands with any value in a field of its story and its events', async () => {
  const { live } = openChat({
    [LATEST]: latestDto([userLine]),
    'GET /v1/stories/s-1': { ...storyDto(), characters: [null, 7, {}], author: 'x' },
  });
  expect(await screen.findByText('谁在门外？')).toBeTruthy();
  for (const body of oddBodies({ ...messageEvent(messageDto({ seq: 2 })) }, [])) live.push('message.created', body);
  for (const body of oddBodies({ ...messageDto({ seq: 2 }) }, [])) live.push('message.completed', { message: body });
  for (const body of oddBodies({ id: 'u-1', balance: 5, name: '甲', version: 2 })) {
    live.push('user.updated', { user: body });
    live.push('balance.updated', body);
  }
  await waitFor(() => expect(screen.getByText('谁在门外？')).toBeTruthy());
  expect(programmersWords()).toEqual([]);
});

describe('a row that throws leaves a line in its place, and the others stay', () => {
  const lost = () => screen.getAllByText('这一条暂时显示不出来').length;

  test('in 聊过', async () => {
    refuseToDraw('崂山道士');
    const rows = ['画皮', '崂山道士', '婴宁'].map((title, at) =>
      conversationDto({ id: `c-${at}`, story: { id: `s-${at}`, title, cover_url: '' } }),
    );
    openRemote(remote, { 'GET /v1/conversations': { data: rows } }, { path: '/conversations', user: { id: 'u-1' } });
    expect((await screen.findAllByText('婴宁')).length).toBeGreaterThan(0);
    expect(screen.getAllByText('画皮').length).toBeGreaterThan(0);
    expect(lost()).toBe(1);
  });

  test('in a chat, where the words of the reader stay in the field', async () => {
    const { live, user } = openChat({ [LATEST]: latestDto([userLine, replyLine]) });
    await screen.findByText(/站了许久/);
    await user.type(await field(), '我还没写完');
    refuseToDraw('崂山道士');
    live.push('message.created', { ...messageEvent(messageDto({ seq: 3, body: '崂山道士来了。' })) });
    await waitFor(() => expect(lost()).toBe(1));
    expect(screen.getByText('谁在门外？')).toBeTruthy();
    expect(((await field()) as HTMLTextAreaElement).value).toBe('我还没写完');
    // its current state can be shown
    live.push('message.completed', {
      ...messageEvent(messageDto({ seq: 3, version: 9, revision: 2, body: '风停了。' })),
    });
    expect(await screen.findByText('风停了。')).toBeTruthy();
  });

  test('among suggestions', async () => {
    refuseToDraw('崂山道士');
    const ideas = {
      id: 'i-1',
      conversation_id: 'c-1',
      status: 'ready',
      items: ['请她进来', '我是崂山道士'].map((text, at) => ({ id: `i-${at}`, text })),
    };
    const { user } = openChat({
      [LATEST]: latestDto([userLine, replyLine]),
      'POST /v1/messages/suggestion': { status: 202, body: { data: ideas } },
      'GET /v1/messages/suggestion/i-1': { data: ideas },
    });
    await user.click(await screen.findByRole('button', { name: /灵感/ }));
    expect(await screen.findByText('请她进来')).toBeTruthy();
    expect(lost()).toBe(1);
  });
});
