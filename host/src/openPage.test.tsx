import './testing/pageFixture';
import { session } from '@liaozhai/shared/runtime';
import { act, memberDto, screen } from '@liaozhai/shared/testing';
import { beforeAll, describe, expect, test } from '@rstest/core';
import { startFirstScreen } from './openPage';
import { openPage, serveBuild } from './testing/fakeRemotes';
import { openHost } from './testing/openHost';

const named = (text: string) => async () => ({ default: () => <h1>{text}</h1> });

beforeAll(() => {
  serveBuild('stories', { explore: named('书架') });
  serveBuild('chat', { conversations: named('聊过的故事') });
  serveBuild('account', { my: named('我的书房') });
});

/** From 发现 to 我的, a dialog over a sheet there, then a reload: only the history entries remain. */
async function reloadUnderOverlays() {
  history.replaceState({ key: 'shelf', idx: 0 }, '', '/explore');
  const page = { key: 'mine', idx: 1 };
  history.pushState(page, '', '/my');
  history.pushState({ ...page, overlays: ['sheet'] }, '');
  history.pushState({ ...page, overlays: ['sheet', 'dialog'] }, '');
  const opened = openPage();
  await act(() => startFirstScreen(opened));
  const host = await openHost({ path: '/my', state: history.state, page: opened });
  await screen.findByText('我的书房');
  return host;
}

const back = () => act(async () => history.back());

describe('a reload with overlays open', () => {
  test('leaves no dead step: the first one back leads to the page before', async () => {
    await reloadUnderOverlays();
    await back();
    expect(await screen.findByText('书架')).toBeTruthy();
  });

  test('leaves the tabs at work, which take the place of the page as ever', async () => {
    const { user } = await reloadUnderOverlays();
    await user.click(screen.getByRole('link', { name: '聊过' }));
    expect(await screen.findByText('聊过的故事')).toBeTruthy();
    await back();
    expect(await screen.findByText('书架')).toBeTruthy();
  });

  test('leaves nothing to go forward to', async () => {
    await reloadUnderOverlays();
    await act(async () => history.forward());
    await back();
    expect(await screen.findByText('书架')).toBeTruthy();
  });
});

test('what only members see of the first screen is loaded with it for them, and for nobody else', async () => {
  const loaded: string[] = [];
  const noted = (name: string) => async () => {
    loaded.push(name);
    return { default: () => null };
  };
  serveBuild('chat', { conversations: noted('screen'), 'conversations.member': noted('list') });
  history.replaceState(null, '', '/conversations');
  await startFirstScreen(openPage());
  expect(loaded).toEqual(['screen']);
  session.userReceived(memberDto());
  await startFirstScreen(openPage());
  expect(loaded).toEqual(['screen', 'screen', 'list']);
});
