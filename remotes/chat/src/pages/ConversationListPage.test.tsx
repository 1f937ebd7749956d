import { api, authPopup, defineRemote, store, useParams } from '@liaozhai/shared/runtime';
import {
  offline,
  onTestEnd,
  openRemote,
  type RecordedRequest,
  screen,
  waitFor,
  within,
} from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { conversationDto, messageDto, messageEvent, pageDto } from '../fixtures';
import remote from '../remote';
import { ConversationColumn } from './ConversationListPage';

const LIST = 'GET /v1/conversations';
const DELETE = 'DELETE /v1/conversations/c-1';
const second = conversationDto({
  id: 'c-2',
  story: { id: 's-2', title: '画皮' },
  last_message: { id: 'm-9', role: 'user', excerpt: '你是谁？' },
  updated_at: '2026-11-19T04:00:00.000000Z',
});

const open = (handlers: Parameters<typeof openRemote>[1], user: { id: string } | null = { id: 'u-1' }) =>
  openRemote(remote, handlers, { path: '/conversations', user });
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

test('a deletion hides at once, and leaving the page carries it out', async () => {
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

describe('in a wide window', () => {
  const both = { [LIST]: pageDto([conversationDto(), second]) };

  test('the list keeps to a column, with the way on beside it', async () => {
    openRemote(remote, both, { path: '/conversations', user: {}, wide: true });
    expect(await titles()).toHaveLength(2);
    expect(screen.getByText('选一段对话，接着聊')).toBeTruthy();
  });

  test('the conversation whose chat stands beside it is marked, and another takes its place', async () => {
    const Beside = () => <ConversationColumn storyId={useParams().id ?? ''} />;
    const page = async () => ({ default: Beside });
    const host = defineRemote({ name: 'chat', routes: [{ name: 'story', path: '/story/:id', title: '故事', page }] });
    const { user } = openRemote(host, both, { path: '/story/s-1', user: {}, wide: true });
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

test('a visitor is told what this is and asked to sign in, and nothing is requested', async () => {
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
  // as after a reload: only what the device keeps is left
  store.dispatch(api.util.resetApiState());
  const { requests } = open({
    [LIST]: () => {
      throw offline();
    },
  });
  expect(await screen.findByRole('link', { name: /聂小倩/ })).toBeTruthy();
  expect(requests.map(({ method, url }) => `${method} ${url}`)).toContain(LIST);
});

test('a list that began with what the device kept goes on once 刷新 reaches the server', async () => {
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
  open(list);
  expect(await screen.findByText('都在这里了')).toBeTruthy();
  isUp = true;
  screen.getByRole('button', { name: '刷新' }).click();
  await waitFor(() => expect(screen.queryByText('都在这里了')).toBeNull());
});

test('a list that does not come offers to try again', async () => {
  let works = false;
  const { user } = open({ [LIST]: () => (works ? pageDto([second]) : { status: 500, body: { message: '册子丢了' } }) });
  expect(await screen.findByText('册子丢了')).toBeTruthy();
  works = true;
  await user.click(screen.getByRole('button', { name: '重试' }));
  expect(await screen.findByRole('link', { name: /画皮/ })).toBeTruthy();
});

test('刷新 brings the list after a first load that failed', async () => {
  let up = false;
  open({
    [LIST]: () => {
      if (!up) throw offline();
      return pageDto([conversationDto()]);
    },
  });
  await screen.findByRole('button', { name: '重试' });
  up = true;
  screen.getByRole('button', { name: '刷新' }).click();
  expect(await titles()).toEqual(['/story/s-1?chat=1']);
});
