import { Link, request, session, useLocation, useParams } from '@liaozhai/shared/runtime';
import { act, screen, waitFor } from '@liaozhai/shared/testing';
import { beforeAll, describe, expect, test } from '@rstest/core';
import { useEffect, useState } from 'react';
import { LocalBadge, LocalNothing } from '../federation/localRemotes';
import { openPage, serveBuild } from '../testing/fakeRemotes';
import { openHost } from '../testing/openHost';
import { testSet } from '../testing/pageFixture';

const effects: string[] = [];
const renders: Record<string, number> = {};

function useTrace(name: string) {
  renders[name] = (renders[name] ?? 0) + 1;
  useEffect(() => {
    effects.push(`${name} shown`);
    return () => void effects.push(`${name} hidden`);
  }, [name]);
}

function ExplorePage() {
  useTrace('explore');
  const { pathname, search } = useLocation();
  const [count, setCount] = useState(0);
  return (
    <>
      <h1>书架 {pathname + search}</h1>
      <button type="button" onClick={() => setCount(count + 1)}>
        翻了 {count} 次
      </button>
      {['1', '2', '3', '4'].map((id) => (
        <Link key={id} to={`/story/${id}`}>
          故事 {id}
        </Link>
      ))}
    </>
  );
}

function StoryPage() {
  const { id = '' } = useParams();
  useTrace(`story ${id}`);
  const [note, setNote] = useState('');
  return <input aria-label={`批注 ${id}`} value={note} onChange={(event) => setNote(event.target.value)} />;
}

const named = (text: string) => async () => ({ default: () => <h1>{text}</h1> });

beforeAll(() => {
  serveBuild('stories', {
    explore: async () => ({ default: ExplorePage }),
    story: async () => ({ default: StoryPage }),
  });
  serveBuild('chat', { conversations: named('聊过的故事') });
  serveBuild('account', { my: named('我的书房') });
});

const back = () => act(async () => history.back());

describe('screens', () => {
  test('the root leads to the first tab and keeps the query', async () => {
    await openHost({ path: '/?invite=LANRUO' });
    expect(await screen.findByText('书架 /explore?invite=LANRUO')).toBeTruthy();
    expect(document.title).toBe('发现 · 聊斋');
  });

  test('a tab replaces the history entry and shows where one is', async () => {
    // as the server renders it
    const canonical = Object.assign(document.createElement('link'), { rel: 'canonical', href: '/explore' });
    document.head.append(canonical);
    const { user } = await openHost();
    await screen.findByText(/书架/);
    const { length } = history;
    await user.click(screen.getByRole('link', { name: '我的' }));
    expect(await screen.findByText('我的书房')).toBeTruthy();
    expect(location.pathname).toBe('/my');
    expect(history.length).toBe(length);
    expect(document.title).toBe('我的 · 聊斋');
    expect(canonical.href).toBe(`${location.origin}/my`);
    expect(screen.getByRole('link', { name: '我的' }).getAttribute('aria-current')).toBe('page');
    expect(screen.getByRole('link', { name: '发现' }).getAttribute('aria-current')).toBeNull();
  });

  test('a tab left and opened again is as it was, its effects stopped meanwhile', async () => {
    const { user } = await openHost();
    await user.click(await screen.findByRole('button', { name: '翻了 0 次' }));
    effects.length = 0;
    await user.click(screen.getByRole('link', { name: '我的' }));
    await screen.findByText('我的书房');
    expect(effects).toEqual(['explore hidden']);
    const before = renders.explore;
    await user.click(screen.getByRole('link', { name: '聊过' }));
    await screen.findByText('聊过的故事');
    expect(renders.explore).toBe(before);
    await user.click(screen.getByRole('link', { name: '发现' }));
    expect(await screen.findByRole('button', { name: '翻了 1 次' })).toBeTruthy();
    expect(effects).toEqual(['explore hidden', 'explore shown']);
  });

  test('three stories are kept, the one not seen for longest is let go', async () => {
    const { user } = await openHost();
    for (const id of ['1', '2', '3', '4']) {
      await user.click(await screen.findByRole('link', { name: `故事 ${id}` }));
      await user.type(await screen.findByLabelText(`批注 ${id}`), `读到${id}`);
      await back();
      await screen.findByText(/书架/);
    }
    await user.click(screen.getByRole('link', { name: '故事 2' }));
    expect(await screen.findByDisplayValue('读到2')).toBeTruthy();
    await back();
    await user.click(await screen.findByRole('link', { name: '故事 1' }));
    expect((await screen.findByLabelText<HTMLInputElement>('批注 1')).value).toBe('');
  });

  test('the tab bar is away on a story and back after it', async () => {
    const { user } = await openHost();
    await user.click(await screen.findByRole('link', { name: '故事 1' }));
    await screen.findByLabelText('批注 1');
    expect(screen.queryByRole('navigation')).toBeNull();
    await back();
    expect(await screen.findByRole('navigation')).toBeTruthy();
  });

  test.each([
    ['a log-out leaves no trace of', () => session.signOut(), false],
    ['a session that ran out keeps', () => request({ url: '/v1/transactions' }).catch(() => undefined), true],
  ])('%s what was visited', async (_, end, expected) => {
    const handlers = { 'POST /v1/logout': {}, 'GET /v1/transactions': { status: 401, body: {} } };
    const { user } = await openHost({ member: true, handlers });
    await user.click(await screen.findByRole('link', { name: '故事 1' }));
    await screen.findByLabelText('批注 1');
    await back();
    await screen.findByText(/书架/);
    dispatchEvent(new Event('pagehide'));
    expect(sessionStorage.getItem('liaozhai-scroll')).toContain('/story/1');
    await act(async () => void (await end()));
    dispatchEvent(new Event('pagehide'));
    expect((sessionStorage.getItem('liaozhai-scroll') ?? '').includes('/story/1')).toBe(expected);
  });

  test('an unknown address says so and leads on', async () => {
    const { user } = await openHost({ path: '/no/such/page' });
    expect(await screen.findByRole('heading', { name: '没有这个页面' })).toBeTruthy();
    await user.click(screen.getByRole('link', { name: '回到发现' }));
    expect(await screen.findByText(/书架/)).toBeTruthy();
  });

  test('a tab whose remote was withdrawn says that it is closed, and the others go on', async () => {
    const { account: _, ...remotes } = testSet.remotes;
    const { user } = await openHost({ page: openPage({ ...testSet, remotes }) });
    await user.click(await screen.findByRole('link', { name: '我的' }));
    expect(await screen.findByRole('heading', { name: '「我的」暂时关闭' })).toBeTruthy();
    await user.click(screen.getByRole('link', { name: '回到发现' }));
    expect(await screen.findByText(/书架/)).toBeTruthy();
  });

  test('of a remote that only a dev server has, and that does not run, it says what to do', async () => {
    const local = [{ name: 'brandnew', origin: 'http://localhost:3101', problem: '没有应答' }];
    const page = openPage({ ...testSet, override: { id: 'local', expires: '', local } });
    await openHost({ path: '/brandnew?tag=fox', page: { ...page, local: { LocalBadge, LocalNothing } } });
    expect(await screen.findByRole('heading', { name: '「brandnew」没有运行' })).toBeTruthy();
    expect(screen.queryByText(/链接可能写错了/)).toBeNull();
    for (const again of screen.getAllByRole<HTMLAnchorElement>('link', { name: '再试' }))
      expect(again.href).toMatch(/\/brandnew\?tag=fox$/);
  });

  test('a screen reader hears of the screen that came into sight', async () => {
    const { user } = await openHost();
    await screen.findByText(/书架/);
    await user.click(screen.getByRole('link', { name: '聊过' }));
    await waitFor(() => expect(screen.getAllByRole('status').map((status) => status.textContent)).toContain('聊过'));
  });
});
