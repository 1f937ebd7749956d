import { type RouteDefinition, ScreenContext } from '@liaozhai/shared/runtime';
import { act, openRemote, screen, waitFor, within } from '@liaozhai/shared/testing';
import { afterEach, describe, expect, rs, test } from '@rstest/core';
import { Activity, useMemo, useRef, useState } from 'react';
import { pageDto, storyDto, storyDtos } from '../fixtures';
import remote from '../remote';

const shelf = () => screen.findByRole('list', { name: '故事' });
const titles = async () =>
  within(await shelf())
    .getAllByRole('heading')
    .map((heading) => heading.textContent);

/** The remote with its shelf kept alive as the host does it, and the way to leave the shelf and to come back. */
function keptAlive() {
  let enter = (_isActive: boolean) => {};
  const kept = async ({ page }: RouteDefinition) => {
    const { default: Page } = await page();
    const Kept = () => {
      const scroller = useRef<HTMLElement>(null);
      const [isActive, setActive] = useState(true);
      enter = setActive;
      return (
        <Activity mode={isActive ? 'visible' : 'hidden'}>
          <section ref={scroller} aria-label="书架">
            <ScreenContext value={useMemo(() => ({ scroller, isActive }), [isActive])}>
              <Page />
            </ScreenContext>
          </section>
        </Activity>
      );
    };
    return { default: Kept };
  };
  const routes = remote.routes.map((route) => ({ ...route, page: () => kept(route) }));
  return { remote: { ...remote, routes }, enter: (isActive: boolean) => act(() => enter(isActive)) };
}

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

  test('a reader who meanwhile taps a card finds the shelf as it was', async () => {
    rs.useFakeTimers({ toFake: ['Date'] });
    const shown = storyDtos(2);
    let answer = (_: unknown) => {};
    let newest: unknown = pageDto(shown);
    const shelfScreen = keptAlive();
    openRemote(shelfScreen.remote, { 'GET /v1/stories': () => newest });
    await shelf();
    screen.getByRole('region', { name: '书架' }).scrollTop = 900;
    newest = new Promise((resolve) => {
      answer = resolve;
    });
    comeBackAfter(301);
    shelfScreen.enter(false);
    await act(async () => answer(pageDto([storyDto({ id: 's-0', title: '新到的' }), ...shown])));
    shelfScreen.enter(true);
    expect(await screen.findByRole('button', { name: '1 个新故事' })).toBeTruthy();
    expect(await titles()).toEqual(['故事s-1', '故事s-2']);
  });
});
