import { oddBodies, oddRows, openRemote, programmersWords, refuseToDraw, screen } from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { characterDto, storyDto } from './fixtures';
import remote from './remote';

test('发现 stands with any value in a field of a story, and shows every story', async () => {
  const rows = [
    ...oddRows({ ...storyDto() }),
    ...oddBodies({ ...storyDto() }).map((row, at) => ({ ...row, id: `whole-${at}` })),
  ];
  // a long list renders only a part of its rows
  const shown = rows.filter((_, at) => at % 4 === 0).slice(0, 110);
  openRemote(remote, { 'GET /v1/stories': { data: [storyDto({ title: '画皮' }), ...shown] } });
  expect(await screen.findByRole('heading', { name: '画皮' })).toBeTruthy();
  expect(screen.getAllByRole('listitem').length).toBe(shown.length + 1);
  expect(programmersWords()).toEqual([]);
});

test.each(oddBodies({ ...storyDto() }))('a story stands: $title', async (story) => {
  openRemote(remote, { 'GET /v1/stories/s-1': { data: story } }, { path: '/story/s-1', user: { id: 'u-1' } });
  expect(await screen.findByRole('link', { name: /开始聊天|继续聊天/ })).toBeTruthy();
  expect(programmersWords()).toEqual([]);
});

describe('a row that throws leaves a line in its place, and the others stay', () => {
  const [one, odd, other] = ['画皮', '崂山道士', '婴宁'].map((title, at) => storyDto({ id: `s-${at}`, title }));
  const recent = ['画皮', '崂山道士'].map((title, at) => ({
    id: `c-${at}`,
    story: { id: `s-${at}`, title, cover_url: '' },
    updated_at: '2026-11-20T04:00:00Z',
  }));

  test('on the shelf', async () => {
    refuseToDraw('崂山道士');
    openRemote(remote, { 'GET /v1/stories': { data: [one, odd, other] } });
    expect(await screen.findByRole('heading', { name: '婴宁' })).toBeTruthy();
    expect(screen.getAllByText('这一条暂时显示不出来')).toHaveLength(1);
    expect(screen.getAllByRole('listitem')).toHaveLength(3);
  });

  test('among the stories one talked in last', async () => {
    refuseToDraw('崂山道士');
    const handlers = { 'GET /v1/stories': { data: [other] }, 'GET /v1/conversations': { data: recent } };
    localStorage.setItem(
      'liaozhai-recent:u-1',
      JSON.stringify(recent.map(({ id, story }) => ({ ...story, id: story.id, conversationId: id, coverUrl: '' }))),
    );
    openRemote(remote, handlers, { user: { id: 'u-1' } });
    const row = await screen.findByRole('region', { name: '继续读' });
    expect(row.textContent).toContain('画皮');
    expect(row.textContent).toContain('这一条暂时显示不出来');
  });

  test('among the people of a story', async () => {
    refuseToDraw('燕赤霞');
    const characters = [characterDto(), characterDto({ id: 'c-yan', name: '燕赤霞' })];
    openRemote(remote, { 'GET /v1/stories/s-1': { data: storyDto({ characters }) } }, { path: '/story/s-1' });
    expect(await screen.findByRole('heading', { name: '聂小倩', level: 3 })).toBeTruthy();
    expect(screen.getAllByText('这一条暂时显示不出来')).toHaveLength(1);
  });
});
