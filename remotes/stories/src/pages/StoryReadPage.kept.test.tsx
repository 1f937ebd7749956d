import { api, store } from '@liaozhai/shared/runtime';
import { offline, openRemote, screen } from '@liaozhai/shared/testing';
import { expect, test } from '@rstest/core';
import { storyDto } from '../fixtures';
import remote from '../remote';

test('without a network the reader’s copy stands over the page that was kept, which knows no reader', async () => {
  const page = document.createElement('script');
  page.type = 'application/json';
  page.id = 'liaozhai-first';
  page.textContent = JSON.stringify({ data: storyDto({ conversation_id: null }) });
  document.body.append(page);
  const story = 'GET /v1/stories/s-1';
  const path = '/story/s-1';
  const read = openRemote(remote, { [story]: storyDto({ conversation_id: 'c-1' }) }, { path });
  await screen.findByRole('link', { name: /继续聊天/ });
  read.unmount();
  store.dispatch(api.util.resetApiState());
  const lost = () => {
    throw offline();
  };
  openRemote(remote, { [story]: lost }, { path });
  expect(await screen.findByRole('button', { name: '重试' })).toBeTruthy();
  expect(screen.getByRole('link', { name: /继续聊天/ })).toBeTruthy();
});
