import { api, offlineCache, session, store } from '@liaozhai/shared/runtime';
import {
  act,
  type Live,
  memberDto,
  offline,
  onTestEnd,
  openRemote,
  screen,
  waitFor,
  within,
} from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { deletions } from '../api/deletions';
import { conversationDto, latestDto, pageDto } from '../fixtures';
import remote from '../remote';
import { chatActions } from '../slice';
import { LATEST, openChat, replyLine, SEND, sends, sentDto, userLine, write } from '../testing/chatting';

const titled = (number: number) =>
  conversationDto({ id: `c-${number}`, story: { id: `s-${number}`, title: `故事${number}` } });

const open = (handlers: Parameters<typeof openRemote>[1]) =>
  openRemote(
    remote,
    { 'GET /v1/conversations': pageDto([1, 2, 3].map(titled)), ...handlers },
    { path: '/conversations', user: { id: 'u-1' } },
  );

async function remove(user: ReturnType<typeof open>['user'], title: string) {
  await user.click(await screen.findByRole('button', { name: `《${title}》的更多操作` }));
  await user.click(
    within(screen.getByRole('menu', { name: `《${title}》的更多操作`, hidden: true })).getByText('删除'),
  );
  await waitFor(() => expect(screen.queryByText(title)).toBeNull());
}
const said = () => store.getState().toasts.map(({ text }) => text);
const deleted = (requests: { method: string; url: string }[]) =>
  requests.filter(({ method }) => method === 'DELETE').map(({ url }) => url);

test('several deletions are shown and undone as one', async () => {
  const { user } = open({});
  await remove(user, '故事1');
  expect(said()).toEqual(['已删除《故事1》的对话']);
  await remove(user, '故事2');
  await remove(user, '故事3');
  expect(said()).toEqual(['已删除 3 段对话']);
});

test('logging out carries out what was said to be deleted, as the one who deleted it', async () => {
  const { user, requests } = open({
    'DELETE /v1/conversations/c-1': { status: 204 },
    'POST /v1/logout': { status: 204 },
  });
  await remove(user, '故事1');
  await session.signOut();
  expect(deleted(requests)).toEqual(['/v1/conversations/c-1']);
  expect(requests.filter(({ method }) => method !== 'GET').map(({ method }) => method)).toEqual(['DELETE', 'POST']);
});

test('a deletion that the server refuses shows the server’s words', async () => {
  const { user } = open({
    'DELETE /v1/conversations/c-1': { status: 500, body: { message: '此卷不可焚' } },
    'POST /v1/logout': { status: 500, body: {} },
  });
  await remove(user, '故事1');
  await session.signOut().catch(() => null);
  expect(said()).toContain('此卷不可焚');
});

for (const [backend, status, message] of [
  ['has no such call', 404, 'The route api/v1/conversations/c-1 could not be found.'],
  ['has the address for reading only', 405, 'The DELETE method is not supported for route api/v1/conversations/c-1.'],
] as const)
  test(`a deletion by a server that ${backend} brings the row back, in our words`, async () => {
    const { user } = open({
      'DELETE /v1/conversations/c-1': { status, body: { message } },
      'POST /v1/logout': { status: 500, body: {} },
    });
    await remove(user, '故事1');
    await act(() => deletions.settle('s-1'));
    expect(await screen.findByRole('link', { name: /故事1/ })).toBeTruthy();
    expect(said()).toContain('服务器还没有这项功能');
    expect(said().join()).not.toContain(message);
  });

test('a conversation that is gone already stays away', async () => {
  const message = 'No query results for model [App\\Models\\Conversation] c-1';
  const { user } = open({ 'DELETE /v1/conversations/c-1': { status: 404, body: { message } } });
  await remove(user, '故事1');
  await act(() => deletions.settle('s-1'));
  expect(screen.queryByRole('link', { name: /故事1/ })).toBeNull();
  expect(said().join()).not.toContain('没能删除');
});

test('a deletion that is answered once someone else has signed in touches nothing of theirs', async () => {
  const { user } = open({
    'DELETE /v1/conversations/c-1': () => {
      session.userReceived(memberDto({ id: 'u-2' }));
      return { status: 204 };
    },
  });
  await remove(user, '故事1');
  await act(() => deletions.settle('s-1'));
  expect(session.current()).toMatchObject({ user: { id: 'u-2' } });
  expect(await offlineCache.read('chat.thread.1.s-1')).toBeUndefined();
});

describe('a chat opened while its deletion can still be undone', () => {
  const DELETE = 'DELETE /v1/conversations/c-1';

  async function removeAndOpen(handlers: Parameters<typeof openChat>[0]) {
    const list = open({});
    await remove(list.user, '故事1');
    await remove(list.user, '故事2');
    list.unmount();
    return openChat(handlers);
  }

  test('shows none of it, and what is written there begins a new conversation', async () => {
    let isDeleted = false;
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { user, requests } = await removeAndOpen({
      [LATEST]: () => latestDto(isDeleted ? [] : [userLine, replyLine]),
      [DELETE]: async () => {
        await answered;
        isDeleted = true;
        return { status: 204 };
      },
      [SEND]: sentDto,
    });
    await waitFor(() => expect(deleted(requests)).toEqual(['/v1/conversations/c-1']));
    expect(said()).toEqual(['已删除《故事2》的对话']);
    expect(screen.queryByRole('textbox')).toBeNull();
    answer();
    await write(user, '重新来过');
    expect(screen.queryByText('谁在门外？')).toBeNull();
    await waitFor(() => expect(sends(requests)[0]?.body).toMatchObject({ story_id: 's-1', body: '重新来过' }));
    const order = requests
      .map(({ method, url }) => `${method} ${url}`)
      .filter((name) => name === DELETE || name === SEND);
    expect(order).toEqual([DELETE, SEND]);
  });

  test('goes on with it where the server cannot be reached, and the row is there again', async () => {
    const { user, requests, unmount } = await removeAndOpen({
      [LATEST]: latestDto([userLine, replyLine]),
      [DELETE]: () => {
        throw offline();
      },
      [SEND]: { status: 422, body: { message: '太长了', errors: { body: ['太长了'] } } },
    });
    await write(user, '后来呢？');
    await waitFor(() => expect(sends(requests)[0]?.body).toMatchObject({ conversation_id: 'c-1' }));
    expect(said().join()).toContain('连不上服务');
    unmount();
    open({});
    expect(await screen.findByRole('link', { name: /故事1/ })).toBeTruthy();
    expect(screen.queryByText('故事2')).toBeNull();
  });
});

describe('a conversation that is gone cannot be read again without a network', () => {
  const leavePage = () => {
    const realFetch = globalThis.fetch;
    onTestEnd(() => {
      globalThis.fetch = realFetch;
    });
    globalThis.fetch = async () => new Response(null, { status: 204 });
    window.dispatchEvent(new Event('pagehide'));
  };
  const ways: [string, (list: ReturnType<typeof open>, live: Live) => Promise<void>][] = [
    ['deleted here', ({ user }) => remove(user, '故事1').then(() => act(() => deletions.settle('s-1')))],
    ['deleted here by leaving the page', ({ user }) => remove(user, '故事1').then(leavePage)],
    ['deleted elsewhere', async (_, live) => live.push('conversation.deleted', { id: 'c-1' })],
  ];
  /** Simulates a reload: only the data on the device is left. */
  const loadAnew = () => {
    store.dispatch(api.util.resetApiState());
    store.dispatch(chatActions.userLeft());
  };
  const unreachable = () => {
    throw offline();
  };

  test.each(ways)('%s', async (_, goes) => {
    const chat = openChat({ [LATEST]: latestDto([userLine, replyLine]) });
    await screen.findByText(replyLine.body ?? '');
    chat.unmount();
    loadAnew();
    const list = open({ 'DELETE /v1/conversations/c-1': { status: 204 } });
    await screen.findByRole('link', { name: /故事1/ });
    // the connection is still the one that was opened first
    await goes(list, chat.live);
    await waitFor(() => expect(screen.queryByRole('link', { name: /故事1/ })).toBeNull());
    list.unmount();
    loadAnew();
    const read = open({ 'GET /v1/conversations': unreachable });
    expect(await screen.findByRole('link', { name: /故事2/ })).toBeTruthy();
    expect(screen.queryByRole('link', { name: /故事1/ })).toBeNull();
    read.unmount();
    openChat({ [LATEST]: unreachable });
    expect(await screen.findByText('开篇')).toBeTruthy();
    expect(screen.queryByText(replyLine.body ?? '')).toBeNull();
  });

  test('nor is what somebody else has on this device forgotten, who signs in just then', async () => {
    const { user } = open({});
    await remove(user, '故事1');
    leavePage();
    act(() => session.userReceived(memberDto({ id: 'u-2' })));
    await import('../api/chatApi');
    // a write by the former user would precede the read
    await offlineCache.write('test', null);
    expect(await offlineCache.read('chat.thread.1.s-1')).toBeUndefined();
  });
});
