import '../testing/pageFixture';
import { offlineCache, pageInfo, RemoteSlot } from '@liaozhai/shared/runtime';
import { act, onTestEnd, screen, waitFor } from '@liaozhai/shared/testing';
import { RowBoundary, useKeptCopy } from '@liaozhai/shared/ui';
import { beforeAll, describe, expect, rs, test } from '@rstest/core';
import { lazy, useLayoutEffect } from 'react';
import { serveBuild } from '../testing/fakeRemotes';
import { openHost } from '../testing/openHost';
import { beacons } from '../testing/pageFixture';
import { judgeSet } from '../updates/UpdateWatch';

let chatIsBroken = true;
let lanternsAreDark = true;

function Chat({ storyId }: { storyId: string }) {
  if (chatIsBroken) throw new Error('the ink ran out');
  return <p>和 {storyId} 里的人说话</p>;
}

function MyPage() {
  return (
    <>
      <h1>我的书房</h1>
      <RemoteSlot name="story.chat" storyId="聂小倩" />
      <RemoteSlot name="my.balance" />
      <nav>
        <RemoteSlot name="my.entries" />
      </nav>
    </>
  );
}

function ExplodingPage(): never {
  throw new Error('the first render threw');
}

beforeAll(() => {
  serveBuild('stories', { explore: async () => ({ default: () => <h1>书架</h1> }) });
  serveBuild('account', { my: async () => ({ default: MyPage }) });
  serveBuild('chat', { 'story.chat': async () => ({ default: Chat }) });
  serveBuild('gifts', { gifts: async () => ({ default: ExplodingPage }) });
  serveBuild('gifts', { gifts: async () => ({ default: () => <h1>旧的礼物</h1> }) }, 'lastGood');
  serveLanterns();
});

const serveLanterns = () =>
  serveBuild('lanterns', {
    async lanterns() {
      if (lanternsAreDark) throw new Error('ChunkLoadError');
      return { default: () => <h1>满城灯火</h1> };
    },
  });

describe('a pane', () => {
  test('whose first render throws shows the last good build, quietly', async () => {
    const { page } = await openHost({ path: '/gifts' });
    expect(await screen.findByRole('heading', { name: '旧的礼物' })).toBeTruthy();
    expect(screen.queryByText('暂时打不开')).toBeNull();
    expect(page.remotes.activeBuild('gifts')?.id).toBe('gifts@1.0.0+000000000000');
    await waitFor(() => expect(beacons.join()).toContain('gifts@2.0.0+000000000000'), { timeout: 3_000 });
  });

  test('whose builds throw alike blames none of them: a value is at fault', async () => {
    const before = beacons.length;
    serveBuild('gifts', { gifts: async () => ({ default: ExplodingPage }) }, 'lastGood');
    onTestEnd(() => serveBuild('gifts', { gifts: async () => ({ default: () => <h1>旧的礼物</h1> }) }, 'lastGood'));
    const { page } = await openHost({ path: '/gifts' });
    expect(await screen.findByText('暂时打不开')).toBeTruthy();
    // a failed screen keeps its title and its back button
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('礼物');
    expect(screen.getByRole('button', { name: '返回' })).toBeTruthy();
    expect(beacons.slice(before).filter((beacon) => beacon.includes('render-threw'))).toEqual([]);
    expect(localStorage.getItem('liaozhai-quarantine') ?? '{}').not.toContain('gifts');
    expect(page.remotes.activeBuild('gifts')?.id).toBe('gifts@2.0.0+000000000000');
  });

  test('whose last good build fails otherwise blames the one that threw', async () => {
    const before = beacons.length;
    const gifts = () => Promise.reject(new Error('the shelf is gone'));
    serveBuild('gifts', { gifts }, 'lastGood');
    onTestEnd(() => serveBuild('gifts', { gifts: async () => ({ default: () => <h1>旧的礼物</h1> }) }, 'lastGood'));
    await openHost({ path: '/gifts' });
    expect(await screen.findByText('暂时打不开')).toBeTruthy();
    const blamed = beacons.slice(before).filter((beacon) => beacon.includes('render-threw'));
    expect(blamed).toEqual([expect.stringContaining('gifts@2.0.0+000000000000')]);
  });

  describe('that throws at a copy which the device holds', () => {
    const open = async (copy: unknown) => {
      function CopiedPage() {
        const { content, isPending } = useKeptCopy<string[]>(offlineCache, 'gifts.shelf.1', true);
        return isPending ? null : <h1>{content ? content.map((each) => each.trim()) : '还没有礼物'}</h1>;
      }
      serveBuild('gifts', { gifts: async () => ({ default: CopiedPage }) });
      serveBuild('gifts', { gifts: async () => ({ default: CopiedPage }) }, 'lastGood');
      onTestEnd(() => {
        serveBuild('gifts', { gifts: async () => ({ default: ExplodingPage }) });
        serveBuild('gifts', { gifts: async () => ({ default: () => <h1>旧的礼物</h1> }) }, 'lastGood');
      });
      await offlineCache.write('gifts.shelf.1', copy);
      await offlineCache.write('chat.thread.1', ['别的']);
      beacons.length = 0;
      return openHost({ path: '/gifts' });
    };

    test.each([{}, 7, 'x', [null], [{}]])('drops %j, goes on without it and blames no build', async (copy) => {
      const { page } = await open(copy);
      expect(await screen.findByText('还没有礼物')).toBeTruthy();
      expect(screen.queryByText('暂时打不开')).toBeNull();
      expect(await offlineCache.read('gifts.shelf.1')).toBeUndefined();
      expect(await offlineCache.read('chat.thread.1')).toEqual(['别的']);
      expect(beacons.join()).not.toContain('render-threw');
      expect(page.remotes.activeBuild('gifts')?.id).toBe('gifts@2.0.0+000000000000');
    });
  });

  describe('whose rows throw', () => {
    const Shelf = ({ odd }: { odd: string[] }) => (
      <ul>
        {['画皮', '婴宁'].map((each) => (
          <RowBoundary key={each} of={each} as="li">
            {(title) => {
              if (odd.includes(title)) throw new RangeError('Invalid time value');
              return <li>{title}</li>;
            }}
          </RowBoundary>
        ))}
      </ul>
    );
    const open = (now: string[], before: string[]) => {
      serveBuild('gifts', { gifts: async () => ({ default: () => <Shelf odd={now} /> }) });
      serveBuild('gifts', { gifts: async () => ({ default: () => <Shelf odd={before} /> }) }, 'lastGood');
      onTestEnd(() => {
        serveBuild('gifts', { gifts: async () => ({ default: ExplodingPage }) });
        serveBuild('gifts', { gifts: async () => ({ default: () => <h1>旧的礼物</h1> }) }, 'lastGood');
      });
      beacons.length = 0;
      return openHost({ path: '/gifts' });
    };
    const blamed = () => beacons.filter((beacon) => beacon.includes('render-threw'));
    const lost = () => screen.queryAllByText('这一条暂时显示不出来').length;

    test('stays in its build while another row stands', async () => {
      const { page } = await open(['画皮'], []);
      expect(await screen.findByText('婴宁')).toBeTruthy();
      expect(lost()).toBe(1);
      expect(page.remotes.activeBuild('gifts')?.id).toBe('gifts@2.0.0+000000000000');
    });

    test('shows the last good build where none stands, and blames the one that threw', async () => {
      await open(['画皮', '婴宁'], []);
      expect(await screen.findByText('画皮')).toBeTruthy();
      expect(lost()).toBe(0);
      await waitFor(() => expect(blamed()).toHaveLength(1), { timeout: 3_000 });
    });

    test('keeps its lines where no build shows one, and blames neither', async () => {
      await open(['画皮', '婴宁'], ['画皮', '婴宁']);
      await waitFor(() => expect(lost()).toBe(2));
      expect(screen.queryByText('暂时打不开')).toBeNull();
      expect(blamed()).toEqual([]);
      expect(localStorage.getItem('liaozhai-quarantine') ?? '{}').not.toContain('gifts');
    });
  });

  describe('that meets nodes which the browser has moved', () => {
    const chromium = "Failed to execute 'removeChild' on 'Node': The node to be removed is not a child of this node.";
    const firefox = 'Node.removeChild: The node to be removed is not a child of this node';
    const webkit = 'The object can not be found here.';
    const open = (throws: number, message: string) => {
      let left = throws;
      const Moved = () => {
        useLayoutEffect(() => {
          if (left-- > 0) throw new DOMException(message, 'NotFoundError');
        }, []);
        return <h1>新的礼物</h1>;
      };
      serveBuild('gifts', { gifts: async () => ({ default: Moved }) });
      onTestEnd(() => serveBuild('gifts', { gifts: async () => ({ default: ExplodingPage }) }));
      serveBuild('gifts', { gifts: async () => ({ default: () => <h1>旧的礼物</h1> }) }, 'lastGood');
      beacons.length = 0;
      return openHost({ path: '/gifts' });
    };

    test.each([
      ['is mounted again, in the same build', 3, '新的礼物', chromium],
      ['is mounted again in Firefox', 3, '新的礼物', firefox],
      ['is mounted again in Safari', 3, '新的礼物', webkit],
      ['shows the last good build where it meets them at every mount', Number.POSITIVE_INFINITY, '旧的礼物', chromium],
    ])('%s, and no build is blamed', async (_, throws, shown, message) => {
      await open(throws, message);
      expect(await screen.findByRole('heading', { name: shown })).toBeTruthy();
      window.dispatchEvent(new Event('pagehide'));
      expect(beacons.filter((beacon) => beacon.includes('failed'))).toEqual([]);
      expect(localStorage.getItem('liaozhai-quarantine') ?? '{}').not.toContain('gifts');
    });
  });

  test('whose page is missing from its build shows the last good one', async () => {
    serveBuild('gifts', {});
    onTestEnd(() => serveBuild('gifts', { gifts: async () => ({ default: ExplodingPage }) }));
    await openHost({ path: '/gifts' });
    expect(await screen.findByRole('heading', { name: '旧的礼物' })).toBeTruthy();
    window.dispatchEvent(new Event('pagehide'));
    await waitFor(() => expect(beacons.at(-1)).toContain('gifts@1.0.0+000000000000'));
    expect(beacons.filter((beacon) => beacon.includes('"failure":"chunk-lost"'))).toHaveLength(1);
  });

  test('whose build was replaced by another still leaves the page when the build that ran is killed', async () => {
    const { page } = await openHost({ path: '/gifts' });
    await screen.findByRole('heading', { name: '旧的礼物' });
    const build = 'gifts@2.0.0+000000000000';
    const channel = { channel: 'production', seq: 8, stable: null, candidate: null, killed: [build], expires: '' };
    expect(judgeSet(page.set, page.remotes.runningBuilds(), channel)).toEqual({ kind: 'killed', build });
  });

  test.each([
    ['a reader without a network', false, 0],
    ['a reader with a network', true, 1],
  ])('whose React.lazy lost its file for %s reports no throw, and never twice', async (_, hasNetwork, reports) => {
    const lost = Object.assign(new Error('Loading chunk 7 failed'), { request: '/late.js', type: 'unreachable' });
    const Late = lazy(() => Promise.reject(lost));
    serveBuild('lanterns', { lanterns: async () => ({ default: () => <Late /> }) });
    const device = rs.spyOn(navigator, 'onLine', 'get').mockReturnValue(hasNetwork);
    onTestEnd(() => device.mockRestore());
    onTestEnd(serveLanterns);
    beacons.length = 0;
    const { page, unmount } = await openHost({ path: '/lanterns' });
    expect(await screen.findByText('暂时打不开')).toBeTruthy();
    device.mockReturnValue(true);
    // online again, and the screen once more: the failure is still the same
    act(() => void window.dispatchEvent(new Event('online')));
    unmount();
    await openHost({ path: '/lanterns', page });
    expect(await screen.findByText('暂时打不开')).toBeTruthy();
    const failed = () => beacons.filter((beacon) => beacon.includes('"outcome":"failed"'));
    await waitFor(() => expect(failed()).toHaveLength(reports));
    expect(beacons.join()).not.toContain('render-threw');
    expect((localStorage.getItem('liaozhai-quarantine') ?? '').includes('lanterns')).toBe(hasNetwork);
  });

  test('without another build offers to try again, the rest of the app alive', async () => {
    const { user } = await openHost({ path: '/lanterns' });
    expect(await screen.findByText('暂时打不开')).toBeTruthy();
    const { problem } = JSON.parse(beacons.at(-1)?.replace('/beacon ', '') ?? '{}') as { problem: string };
    expect(screen.getByText(problem.slice(0, 8)).parentElement?.textContent).toContain('问题编号');
    expect(pageInfo().problems).toContain(problem);
    await user.click(screen.getByRole('button', { name: '重试' }));
    expect(await screen.findByText('暂时打不开')).toBeTruthy();
    lanternsAreDark = false;
    await user.click(screen.getByRole('button', { name: '重试' }));
    expect(await screen.findByRole('heading', { name: '满城灯火' })).toBeTruthy();
    await user.click(screen.getByRole('link', { name: '发现' }));
    expect(await screen.findByRole('heading', { name: '书架' })).toBeTruthy();
  });

  test('that failed opens automatically as soon as the network is back', async () => {
    lanternsAreDark = true;
    onTestEnd(() => {
      lanternsAreDark = true;
    });
    await openHost({ path: '/lanterns' });
    expect(await screen.findByText('暂时打不开')).toBeTruthy();
    lanternsAreDark = false;
    window.dispatchEvent(new Event('online'));
    expect(await screen.findByRole('heading', { name: '满城灯火' })).toBeTruthy();
  });

  test('that failed is tried again on return, and then after growing pauses, four times', async () => {
    let loads = 0;
    const fail = async () => {
      loads += 1;
      throw new Error('ChunkLoadError');
    };
    serveBuild('lanterns', { lanterns: fail });
    await openHost({ path: '/lanterns' });
    expect(await screen.findByText('暂时打不开')).toBeTruthy();
    rs.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestEnd(() => rs.useRealTimers());
    const before = loads;
    document.dispatchEvent(new Event('visibilitychange'));
    await act(() => rs.advanceTimersByTimeAsync(2_000));
    expect(loads).toBe(before + 1);
    await act(() => rs.advanceTimersByTimeAsync(3_600_000));
    expect(loads).toBe(before + 5);
    expect(screen.getByText('暂时打不开')).toBeTruthy();
  });

  test('of an open slot stands in its order, and one that throws disappears alone and is counted', async () => {
    const entry = (text: string) => async () => ({ default: () => <a href="/gifts">{text}</a> });
    serveBuild('gifts', { 'my.entries': entry('我的礼物') });
    serveBuild('gifts', { 'my.entries': entry('我的礼物') }, 'lastGood');
    serveBuild('lanterns', { 'my.entries': entry('我的灯会') });
    const first = await openHost({ path: '/my' });
    const nav = () => [...document.querySelectorAll('h1 ~ nav a')].map((link) => link.textContent);
    await waitFor(() => expect(nav()).toEqual(['我的灯会', '我的礼物']));
    first.unmount();
    beacons.length = 0;
    serveBuild('lanterns', { 'my.entries': async () => ({ default: ExplodingPage }) });
    await openHost({ path: '/my' });
    await waitFor(() => expect(nav()).toEqual(['我的礼物']));
    await waitFor(() => expect(beacons.join()).toContain('"failure":"render-threw"'));
    expect(beacons.join()).toContain('lanterns@1.0.0');
    // the one of the chat
    expect(screen.queryAllByText('暂时打不开').length).toBe(1);
  });

  test('in a slot fails in its own row; its page stays', async () => {
    const { user } = await openHost({ path: '/my' });
    expect(await screen.findByText('暂时打不开')).toBeTruthy();
    expect(screen.getByRole('heading', { name: '我的书房' })).toBeTruthy();
    chatIsBroken = false;
    await user.click(screen.getByRole('button', { name: '重试' }));
    expect(await screen.findByText('和 聂小倩 里的人说话')).toBeTruthy();
  });
});
