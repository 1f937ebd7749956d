import { api, store } from '@liaozhai/shared/runtime';
import { offline, openRemote, screen } from '@liaozhai/shared/testing';
import { expect, test } from '@rstest/core';
import { storyDto } from '../fixtures';
import remote from '../remote';

test('the page that was kept knows no reader: the action is neutral, and the reader’s copy stands over it', async () => {
  const page = document.createElement('script');
  page.type = 'application/json';
  page.id = 'liaozhai-first';
  page.textContent = JSON.stringify({ data: storyDto({ conversation_id: null }) });
  document.body.append(page);
  const story = 'GET /v1/stories/s-1';
  const path = '/story/s-1';
  let answer = (_: unknown) => {};
  const answered = new Promise((resolve) => {
    answer = resolve;
  });
  const read = openRemote(remote, { [story]: () => answered }, { path, user: {} });
  await screen.findByRole('link', { name: '进入聊天' });
  answer(storyDto({ conversation_id: 'c-1' }));
  await screen.findByRole('link', { name: /继续聊天/ });
  read.unmount();
  store.dispatch(api.util.resetApiState());
  const lost = () => {
    throw offline();
  };
  openRemote(remote, { [story]: lost }, { path, user: {} });
  expect(await screen.findByRole('button', { name: '重试' })).toBeTruthy();
  expect(screen.getByRole('link', { name: /继续聊天/ })).toBeTruthy();
});
