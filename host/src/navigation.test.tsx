import './testing/pageFixture';
import { Link, paths, useGoBack, useLeaveGuard, useParams } from '@liaozhai/shared/runtime';
import { act, onTestEnd, screen, waitFor } from '@liaozhai/shared/testing';
import { listenTo } from '@liaozhai/shared/ui';
import { beforeAll, beforeEach, describe, expect, rs, test } from '@rstest/core';
import { useState } from 'react';
import { serveBuild } from './testing/fakeRemotes';
import { openHost } from './testing/openHost';

function ExplorePage() {
  return (
    <>
      <h1>书架</h1>
      <Link to="/story/1">故事 1</Link>
      <Link to="/story/2">故事 2</Link>
      <Link to="/explore?q=狐" replace>
        搜狐
      </Link>
      <a href="https://pay.example/1">去付款</a>
    </>
  );
}

function StoryPage() {
  const goBack = useGoBack(paths.my());
  return (
    <>
      <h1>第 {useParams().id} 则</h1>
      <Link to="/story/2">下一则</Link>
      <button type="button" onClick={goBack}>
        返回
      </button>
    </>
  );
}

function MyPage() {
  return (
    <>
      <h1>我的书房</h1>
      <Link to="/my/profile">去改名</Link>
    </>
  );
}

/** The visitor's answers to the question whether to leave. */
let answers: boolean[] = [];

function ProfilePage() {
  const [name, setName] = useState('');
  useLeaveGuard(name !== '', async () => answers.shift() ?? true);
  return <input aria-label="新名字" value={name} onChange={(event) => setName(event.target.value)} />;
}

beforeAll(() => {
  serveBuild('stories', {
    explore: async () => ({ default: ExplorePage }),
    story: async () => ({ default: StoryPage }),
  });
  serveBuild('account', { my: async () => ({ default: MyPage }), profile: async () => ({ default: ProfilePage }) });
});

/** The documents requested of the browser, which loads them asynchronously. */
let asked: string[] = [];

beforeEach(() => {
  asked = [];
  Object.assign(location, {
    assign: (path: string) => asked.push(`assign ${path}`),
    replace: (path: string) => asked.push(`replace ${path}`),
    reload: () => asked.push('reload'),
  });
});

const heading = (name: string) => screen.findByRole('heading', { name });
const back = () => act(async () => history.back());

async function openWithNewerSet() {
  const host = await openHost();
  await heading('书架');
  host.page.pendingUpdate.announce('newer');
  const tap = (name: string) => host.user.click(screen.getByRole('link', { name }));
  return { ...host, tap };
}

test('where the browser takes no more entries of a page, a link opens a document', async () => {
  const { user } = await openHost();
  const full = rs.spyOn(history, 'pushState').mockImplementation(() => {
    throw new DOMException('100 times per 30 seconds', 'SecurityError');
  });
  onTestEnd(() => full.mockRestore());
  await user.click(await screen.findByRole('link', { name: '故事 1' }));
  expect(asked).toEqual(['assign /story/1']);
});

test('a newer set waits while a page changes its own address, as a search does with each word', async () => {
  const { tap } = await openWithNewerSet();
  await tap('搜狐');
  expect(decodeURIComponent(location.search)).toBe('?q=狐');
  expect(asked).toEqual([]);
  await tap('故事 1');
  expect(asked).toEqual(['assign /story/1']);
});

describe('while the document of a newer set is loading', () => {
  test('the last tap decides where it leads', async () => {
    const { tap } = await openWithNewerSet();
    await tap('故事 1');
    await tap('故事 2');
    await tap('我的');
    expect(asked).toEqual(['assign /story/1', 'assign /story/2', 'replace /my']);
    expect(await heading('书架')).toBeTruthy();
  });

  test('a step back is not undone by a document requested before', async () => {
    const { user, page } = await openHost();
    await user.click(await screen.findByRole('link', { name: '故事 1' }));
    await heading('第 1 则');
    page.pendingUpdate.announce('newer');
    await user.click(screen.getByRole('link', { name: '下一则' }));
    await back();
    expect(asked).toEqual(['assign /story/2', 'reload']);
    expect(location.pathname).toBe('/explore');
  });

  test('the old one, taken from the browser’s cache, shows its pages itself again', async () => {
    const { tap } = await openWithNewerSet();
    await tap('故事 1');
    dispatchEvent(new Event('pagehide'));
    await tap('故事 2');
    expect(await heading('第 2 则')).toBeTruthy();
  });
});

describe('a page that came as a new document', () => {
  async function leaveFor(story: string) {
    const { tap, unmount } = await openWithNewerSet();
    await tap(story);
    unmount();
    // the entry that the browser creates for it
    history.pushState(null, '', '/');
  }

  test('has the arrow lead back to where the tap was', async () => {
    await leaveFor('故事 1');
    const { user } = await openHost({ path: '/story/1' });
    await heading('第 1 则');
    await user.click(screen.getByRole('button', { name: '返回' }));
    expect(await heading('书架')).toBeTruthy();
  });

  test('and not by the tap has it lead to its fallback', async () => {
    await leaveFor('故事 1');
    const { user } = await openHost({ path: '/story/2' });
    await heading('第 2 则');
    await user.click(screen.getByRole('button', { name: '返回' }));
    expect(await heading('我的书房')).toBeTruthy();
  });
});

describe('unsaved work', () => {
  type User = Awaited<ReturnType<typeof openHost>>['user'];

  test.each([
    ['a tab', (user: User) => user.click(screen.getByRole('link', { name: '发现' })), '/explore'],
    ['a step back', () => back(), '/my'],
  ])('is asked about by %s: no stays with what was typed, yes goes', async (_, leave, goal) => {
    const { user } = await openHost({ path: '/my', member: true });
    await user.click(await screen.findByRole('link', { name: '去改名' }));
    await user.type(await screen.findByLabelText('新名字'), '婴宁');
    answers = [false, true];
    await leave(user);
    await waitFor(() => expect(answers).toEqual([true]));
    await waitFor(() => expect(location.pathname).toBe('/my/profile'));
    expect(screen.getByDisplayValue('婴宁')).toBeTruthy();
    await leave(user);
    await waitFor(() => expect(location.pathname).toBe(goal));
    expect(answers).toEqual([]);
  });
});

test('a tab that the page was come to from is stepped back to, so that no step of the history leads nowhere', async () => {
  const { user } = await openHost({ path: '/my', member: true });
  await user.click(await screen.findByRole('link', { name: '去改名' }));
  await screen.findByLabelText('新名字');
  await user.click(screen.getByRole('link', { name: '我的' }));
  expect(await heading('我的书房')).toBeTruthy();
  expect(history.state.idx).toBe(0);
});

test('a second tap on 返回 before the step of the first arrives takes none', async () => {
  const { user } = await openHost();
  await user.click(await screen.findByRole('link', { name: '故事 1' }));
  await heading('第 1 则');
  // browsers take the step later
  const go = rs.spyOn(history, 'go').mockReturnValue();
  onTestEnd(() => go.mockRestore());
  await user.dblClick(screen.getByRole('button', { name: '返回' }));
  expect(go.mock.calls).toEqual([[-1]]);
  const later = rs.spyOn(performance, 'now').mockReturnValue(performance.now() + 1_001);
  onTestEnd(() => later.mockRestore());
  await user.click(screen.getByRole('button', { name: '返回' }));
  expect(go.mock.calls).toEqual([[-1], [-1]]);
});

test('doubled slashes of an address count as one, as they do for the server', async () => {
  await openHost({ path: '/story//2' });
  expect(await heading('第 2 则')).toBeTruthy();
  expect(location.pathname).toBe('/story/2');
});

test('a link out of the app leads nowhere without a network, and the page says why', async () => {
  const { user } = await openHost();
  const wasPrevented: boolean[] = [];
  onTestEnd(
    listenTo(window, ['click'], (event) => {
      wasPrevented.push(event.defaultPrevented);
      event.preventDefault();
    }),
  );
  const payLink = await screen.findByRole('link', { name: '去付款' });
  await user.click(payLink);
  expect(screen.queryByText('当前没有网络，请联网后重试')).toBeNull();
  rs.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
  onTestEnd(() => rs.restoreAllMocks());
  act(() => void window.dispatchEvent(new Event('offline')));
  await user.click(payLink);
  expect(await screen.findByText('当前没有网络，请联网后重试')).toBeTruthy();
  expect(wasPrevented).toEqual([false, true]);
  await user.click(screen.getByRole('link', { name: '故事 1' }));
  expect(await screen.findByRole('heading', { name: '第 1 则' })).toBeTruthy();
});
