import { api, store } from '@liaozhai/shared/runtime';
import { offline, openRemote, screen } from '@liaozhai/shared/testing';
import { expect, test } from '@rstest/core';
import { pageDto, storyDtos } from '../fixtures';
import remote from '../remote';

const url = 'GET /v1/favorites';
const options = { path: '/my/favorites', user: {} };

test('the saved stories lead to their pages', async () => {
  openRemote(remote, { [url]: pageDto(storyDtos(2)) }, options);
  const links = await screen.findAllByRole('link', { name: /故事s-/ });
  expect(links.map((link) => link.getAttribute('href'))).toEqual(['/story/s-1', '/story/s-2']);
  expect(screen.getByText('收藏都在这里了')).toBeTruthy();
});

test('an empty list says how one is saved, and leads on', async () => {
  openRemote(remote, { [url]: pageDto([]) }, options);
  expect(await screen.findByText(/还没有收藏/)).toBeTruthy();
  expect(screen.getByRole('link', { name: '去看看故事' }).getAttribute('href')).toBe('/explore');
});

test('a list that does not come offers to try again', async () => {
  openRemote(remote, { [url]: { status: 500, body: { message: '书架锁着' } } }, options);
  expect(await screen.findByText('书架锁着')).toBeTruthy();
  expect(screen.getByRole('button', { name: '重试' })).toBeTruthy();
});

test.each([
  ['/my/favorites', url],
  ['/explore', 'GET /v1/stories'],
])('without a network %s shows the first page that had stories', async (path, list) => {
  const pages = ({ params }: { params: Record<string, string> }) => pageDto(...pageAt(params.cursor));
  const pageAt = (cursor?: string): Parameters<typeof pageDto> => (cursor ? [storyDtos(2)] : [[], 'p2']);
  const { unmount } = openRemote(remote, { [list]: pages }, { ...options, path });
  await screen.findAllByRole('link', { name: /故事s-1/ });
  unmount();
  // as after a reload: only the data on the device is left
  store.dispatch(api.util.resetApiState());
  openRemote(remote, { [list]: refuse }, { ...options, path });
  expect(await screen.findAllByRole('link', { name: /故事s-1/ })).toBeTruthy();
});

const refuse = () => {
  throw offline();
};
