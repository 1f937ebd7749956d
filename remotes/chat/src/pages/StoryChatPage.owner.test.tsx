import { STORAGE_KEYS, type UserDto } from '@liaozhai/shared/contract';
import { authPopup, outboxStore, session } from '@liaozhai/shared/runtime';
import { memberDto, offline, onTestEnd, type RecordedRequest, screen, waitFor } from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { threadSyncs } from '../api/threadSync';
import { latestDto } from '../fixtures';
import { bodyOf, LATEST, openChat, replyLine, SEND, sends, sentDto, userLine, write } from '../testing/chatting';

describe('outbox.401', () => {
  const signIn = (user: Partial<UserDto>) => waitFor(() => session.userReceived(memberDto(user)));

  test('a visitor writes, signs in, and the line sends itself exactly once', async () => {
    const { user, requests } = openChat({ [SEND]: sentDto }, { user: null });
    let popups = 0;
    onTestEnd(
      authPopup.onRequest(async () => {
        popups += 1;
        session.userReceived(memberDto());
        return true;
      }),
    );
    await write(user, '谁在门外？');
    expect(popups).toBe(1);
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(screen.getAllByText('谁在门外？')).toHaveLength(1);
    expect(sends(requests)).toHaveLength(1);
  });

  test('what an earlier page of theirs had stored goes before what they write before and after signing in', async () => {
    const [owner, key] = [memberDto().id, 'client-5'];
    const value = { clientId: key, storyId: 's-1', conversationId: null, body: '一更', createdAt: 1, state: 'waiting' };
    localStorage.setItem(`${STORAGE_KEYS.outbox}:${owner}:${key}`, JSON.stringify({ owner, key, savedAt: 1, value }));
    const { user, requests } = openChat(
      { [SEND]: (request: RecordedRequest) => sentDto(request, { status: 'completed' }) },
      { user: null },
    );
    await write(user, '二更');
    await signIn({});
    await write(user, '三更');
    await waitFor(() => expect(sends(requests)).toHaveLength(3));
    expect(sends(requests).map((request) => bodyOf(request).body)).toEqual(['一更', '二更', '三更']);
  });

  test('a closed popup leaves the line waiting for a login', async () => {
    const { user, requests } = openChat({ [SEND]: sentDto }, { user: null });
    await write(user, '谁在门外？');
    expect(await screen.findByText('登录后发送')).toBeTruthy();
    expect(sends(requests)).toHaveLength(0);
  });

  test('the way out of that wait leads to the log-in, not to a second account', async () => {
    const asked: string[] = [];
    onTestEnd(
      authPopup.onRequest(async (mode) => {
        asked.push(mode);
        return false;
      }),
    );
    const { user } = openChat({ [SEND]: sentDto }, { user: null });
    await write(user, '谁在门外？');
    await user.click(await screen.findByRole('button', { name: '登录' }));
    expect(asked.at(-1)).toBe('login');
  });

  test('an expired session: the same user gets the line sent once, another never does', async () => {
    let isExpired = true;
    const { user, requests } = openChat({
      [SEND]: (request: RecordedRequest) => (isExpired ? { status: 401, body: { message: 'no' } } : sentDto(request)),
    });
    await write(user, '谁在门外？');
    await waitFor(() => expect(session.current().status).toBe('guest'));
    isExpired = false;
    await signIn({});
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(sends(requests)).toHaveLength(2);
    expect(new Set(sends(requests).map((request) => bodyOf(request).client_id)).size).toBe(1);
  });

  test('a failed line that is tried again as the session has run out stays with its writer', async () => {
    let latest: () => unknown = () => latestDto([]);
    let post: (request: RecordedRequest) => unknown = () => {
      throw offline();
    };
    const { user, requests } = openChat({
      [LATEST]: () => latest(),
      [SEND]: (request: RecordedRequest) => post(request),
    });
    await write(user, '只说给你听');
    const retry = await screen.findByRole('button', { name: '点按重试' });
    latest = () => ({ status: 401, body: { message: 'no' } });
    await user.click(retry);
    await waitFor(() => expect(session.current().status).toBe('guest'));
    latest = () => latestDto([]);
    post = sentDto;
    await signIn({ id: 'u-2' });
    await screen.findByText('开篇');
    expect(await outboxStore.all()).toEqual([]);
    expect(screen.queryByText('只说给你听')).toBeNull();
    expect(sends(requests)).toHaveLength(2);
  });

  test('the same user, back again, gets such a line sent automatically', async () => {
    let isExpired = false;
    let isUp = false;
    const { user, requests } = openChat({
      [LATEST]: () => (isExpired ? { status: 401, body: { message: 'no' } } : latestDto([])),
      [SEND]: (request: RecordedRequest) => {
        if (!isUp) throw offline();
        return sentDto(request);
      },
    });
    await write(user, '只说给你听');
    const retry = await screen.findByRole('button', { name: '点按重试' });
    isExpired = true;
    await user.click(retry);
    await waitFor(() => expect(session.current().status).toBe('guest'));
    isExpired = false;
    isUp = true;
    await signIn({});
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(sends(requests)).toHaveLength(3);
  });

  test('an expired session leaves the conversation and the message in sight, with the way back in', async () => {
    let isExpired = false;
    const expire = () => ({ status: 401, body: { message: 'no' } });
    const { user, requests } = openChat({
      [LATEST]: () => (isExpired ? expire() : latestDto([userLine, replyLine])),
      [SEND]: (request: RecordedRequest) => (isExpired ? expire() : sentDto(request)),
    });
    await screen.findByText(replyLine.body ?? '');
    isExpired = true;
    await write(user, '后来呢？');
    expect(await screen.findByText('登录已过期，你的对话都在')).toBeTruthy();
    expect(screen.getByText(replyLine.body ?? '')).toBeTruthy();
    expect(screen.getByText('后来呢？')).toBeTruthy();
    const looks = requests.filter(({ url }) => url === '/v1/messages/latest').length;
    await threadSyncs.of('s-1')?.catchUp();
    expect(requests.filter(({ url }) => url === '/v1/messages/latest')).toHaveLength(looks);
    isExpired = false;
    await signIn({ id: 'u-2' });
    await waitFor(() => expect(screen.queryByText('后来呢？')).toBeNull());
    expect(screen.queryByText('登录已过期，你的对话都在')).toBeNull();
  });

  test('as another user it is never sent', async () => {
    const { user, requests } = openChat({ [SEND]: { status: 401, body: { message: 'no' } } });
    await write(user, '谁在门外？');
    await waitFor(() => expect(session.current().status).toBe('guest'));
    await signIn({ id: 'u-2' });
    await screen.findByText('开篇');
    expect(sends(requests)).toHaveLength(1);
    expect(screen.queryByText('谁在门外？')).toBeNull();
    expect(await outboxStore.all()).toEqual([]);
  });
});
