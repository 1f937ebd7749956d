import { oddBodies, oddRows, openRemote, programmersWords, screen } from '@liaozhai/shared/testing';
import { expect, test } from '@rstest/core';
import { storyDto } from './fixtures';
import remote from './remote';

test('发现 stands whatever a story has in a field, and shows every story', async () => {
  const rows = [
    ...oddRows({ ...storyDto() }),
    ...oddBodies({ ...storyDto() }).map((row, at) => ({ ...row, id: `whole-${at}` })),
  ];
  // a long list draws a part of itself
  const shown = rows.filter((_, at) => at % 4 === 0).slice(0, 110);
  openRemote(remote, { 'GET /v1/stories': { data: [storyDto({ title: '画皮' }), ...shown] } });
  expect(await screen.findByRole('heading', { name: '画皮' })).toBeTruthy();
  expect(screen.getAllByRole('listitem').length).toBe(shown.length + 1);
  expect(programmersWords()).toEqual([]);
});

test.each(oddBodies({ ...storyDto() }))('a story stands: %j', async (story) => {
  openRemote(remote, { 'GET /v1/stories/s-1': { data: story } }, { path: '/story/s-1', user: { id: 'u-1' } });
  expect(await screen.findByRole('link', { name: /开始聊天|继续聊天/ })).toBeTruthy();
  expect(programmersWords()).toEqual([]);
});
