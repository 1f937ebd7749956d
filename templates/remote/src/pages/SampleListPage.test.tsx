import { openRemote, screen } from '@liaozhai/shared/testing';
import { expect, test } from '@rstest/core';
import { pageDto, storyDto } from '../fixtures';
import remote from '../remote';
import { texts } from '../texts';

test('what the server has is listed, each leading to its page', async () => {
  openRemote(remote, { 'GET /v1/stories': pageDto([storyDto({ id: 's-7', title: '画皮' })]) });
  const row = await screen.findByRole('link', { name: /画皮/ });
  expect(row.getAttribute('href')).toBe('/story/s-7');
});

test('an empty list says so', async () => {
  openRemote(remote, { 'GET /v1/stories': pageDto([]) });
  expect(await screen.findByText(texts.list.empty)).toBeTruthy();
});

test('a failed request can be tried again in its place', async () => {
  let works = false;
  const { user } = openRemote(remote, {
    'GET /v1/stories': () =>
      works ? pageDto([storyDto({ title: '婴宁' })]) : { status: 404, body: { message: '没找到' } },
  });
  const retry = await screen.findByRole('button', { name: '重试' });
  works = true;
  await user.click(retry);
  expect(await screen.findByText('婴宁')).toBeTruthy();
});
