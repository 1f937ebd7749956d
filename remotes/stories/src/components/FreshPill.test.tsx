import { openRemote, screen, waitFor, within } from '@liaozhai/shared/testing';
import { afterEach, describe, expect, rs, test } from '@rstest/core';
import { pageDto, storyDto, storyDtos } from '../fixtures';
import remote from '../remote';

const shelf = () => screen.findByRole('list', { name: '故事' });
const titles = async () =>
  within(await shelf())
    .getAllByRole('heading')
    .map((heading) => heading.textContent);

describe('coming back after a while', () => {
  afterEach(() => void rs.useRealTimers());

  const comeBackAfter = (seconds: number) => {
    rs.setSystemTime(Date.now() + seconds * 1000);
    document.dispatchEvent(new Event('visibilitychange'));
  };

  test('new stories wait behind a pill and do not move what is being looked at', async () => {
    rs.useFakeTimers({ toFake: ['Date'] });
    let newest = storyDtos(2);
    const { user, requests } = openRemote(remote, { 'GET /v1/stories': () => pageDto(newest) });
    await shelf();
    const scroller = screen.getByRole('main');
    scroller.scrollTop = 900;
    newest = [storyDto({ id: 's-0', title: '新到的' }), ...newest];
    comeBackAfter(60);
    expect(requests.length).toBe(1);
    comeBackAfter(301);
    const pill = await screen.findByRole('button', { name: '1 个新故事' });
    expect(await titles()).toEqual(['故事s-1', '故事s-2']);
    await user.click(pill);
    expect(await titles()).toEqual(['新到的', '故事s-1', '故事s-2']);
    expect(scroller.scrollTop).toBe(0);
    expect(screen.queryByRole('button', { name: '1 个新故事' })).toBeNull();
  });

  test('at the top they just appear', async () => {
    rs.useFakeTimers({ toFake: ['Date'] });
    let newest = storyDtos(1);
    openRemote(remote, { 'GET /v1/stories': () => pageDto(newest) });
    await shelf();
    newest = [storyDto({ id: 's-0', title: '新到的' }), ...newest];
    comeBackAfter(301);
    expect(await screen.findByRole('link', { name: /新到的/ })).toBeTruthy();
    await waitFor(() => expect(screen.queryByRole('button', { name: /新故事/ })).toBeNull());
  });
});
