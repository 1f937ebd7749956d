import { openRemote, screen, within } from '@liaozhai/shared/testing';
import { expect, test } from '@rstest/core';
import { pageDto, storyDto, storyDtos } from '../fixtures';
import remote from '../remote';

const shelf = () => screen.findByRole('list', { name: '故事' });
const titles = async () =>
  within(await shelf())
    .getAllByRole('heading')
    .map((heading) => heading.textContent);

test('the shelf shows cover, title, first sentence and tags, and leads to the story', async () => {
  const second = storyDto({
    id: 's-2',
    title: '画皮',
    summary: '他带回一个女子。夜里，她在描自己的脸。',
    tags: ['狐鬼', '警世'],
  });
  openRemote(remote, { 'GET /v1/stories': pageDto([storyDto(), second]) });
  const card = await screen.findByRole('link', { name: /画皮/ });
  expect(card.getAttribute('href')).toBe('/story/s-2');
  expect(card.textContent).toContain('他带回一个女子。');
  expect(card.textContent).not.toContain('描自己的脸');
  expect(card.textContent).toContain('狐鬼 · 警世');
  expect(screen.getByText('故事到这里就翻完了')).toBeTruthy();
});

test('an empty shelf says so', async () => {
  openRemote(remote, { 'GET /v1/stories': pageDto([]) });
  expect(await screen.findByText('书架还空着，过一会儿再来看看')).toBeTruthy();
});

test('a failed feed offers to try again in its place', async () => {
  let answers = 0;
  const { user } = openRemote(remote, {
    'GET /v1/stories': () => {
      answers += 1;
      return answers === 1 ? { status: 500, body: { message: '书架塌了' } } : pageDto([storyDto()]);
    },
  });
  expect(await screen.findByText('书架塌了')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: '重试' }));
  expect(await titles()).toEqual(['聂小倩']);
});

test('refreshing puts new stories on top and moves nothing else', async () => {
  let newest = storyDtos(2);
  const { user } = openRemote(remote, { 'GET /v1/stories': () => pageDto(newest) });
  expect(await titles()).toEqual(['故事s-1', '故事s-2']);
  newest = [storyDto({ id: 's-0', title: '新到的' }), ...newest];
  await user.click(screen.getByRole('button', { name: '刷新' }));
  expect(await screen.findByRole('link', { name: /新到的/ })).toBeTruthy();
  expect(await titles()).toEqual(['新到的', '故事s-1', '故事s-2']);
});
