import { session, store } from '@liaozhai/shared/runtime';
import { openRemote, screen, waitFor, within } from '@liaozhai/shared/testing';
import { expect, test } from '@rstest/core';
import { conversationDto, pageDto } from '../fixtures';
import remote from '../remote';

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
const deletions = (requests: { method: string; url: string }[]) =>
  requests.filter(({ method }) => method === 'DELETE').map(({ url }) => url);

test('several deletions are told and undone as one', async () => {
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
  expect(deletions(requests)).toEqual(['/v1/conversations/c-1']);
  expect(requests.filter(({ method }) => method !== 'GET').map(({ method }) => method)).toEqual(['DELETE', 'POST']);
});

test('a deletion that the server refuses is told in its words', async () => {
  const { user } = open({
    'DELETE /v1/conversations/c-1': { status: 500, body: { message: '此卷不可焚' } },
    'POST /v1/logout': { status: 500, body: {} },
  });
  await remove(user, '故事1');
  await session.signOut().catch(() => null);
  expect(said()).toContain('此卷不可焚');
});
