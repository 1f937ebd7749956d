import { openRemote, screen } from '@liaozhai/shared/testing';
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
