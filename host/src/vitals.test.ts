import './testing/pageFixture';
import type { VitalsReport } from '@liaozhai/shared/contract';
import { READY, STORAGE_KEYS } from '@liaozhai/shared/contract';
import { local } from '@liaozhai/shared/runtime';
import { onTestEnd } from '@liaozhai/shared/testing';
import { beforeEach, describe, expect, rs, test } from '@rstest/core';
import type { GuardedHistory } from './navigation';
import { openPage } from './testing/fakeRemotes';
import { beacons, testSet } from './testing/pageFixture';

interface Told {
  name: string;
  value: number;
  entries: { startTime: number; value?: number }[];
}

/** Replaces web-vitals' measuring, which a test's browser lacks; the values have its format. */
const measured = { LCP: (_: Told) => {}, INP: (_: Told) => {}, CLS: (_: Told) => {} };
rs.mock('web-vitals', () => ({
  onLCP: (listener: (told: Told) => void) => Object.assign(measured, { LCP: listener }),
  onINP: (listener: (told: Told) => void) => Object.assign(measured, { INP: listener }),
  onCLS: (listener: (told: Told) => void) => Object.assign(measured, { CLS: listener }),
}));

const { watchVitals } = await import('./vitals');

const watch = (...of: Parameters<typeof watchVitals>) => onTestEnd(watchVitals(...of));

const host = testSet.host.id;
const [stories, account] = [testSet.remotes.stories?.id ?? '', testSet.remotes.account?.id ?? ''];

/** A fake history with the part that measuring uses. */
function openWay(pathname: string) {
  let path = pathname;
  let follow = () => {};
  history.replaceState(null, '', path);
  const navigation = {
    current: () => ({ location: { pathname: path } }),
    subscribe: (listener: () => void) => {
      follow = listener;
      return () => {};
    },
  } as unknown as GuardedHistory;
  const go = (to: string) => {
    path = to;
    follow();
  };
  return { navigation, go };
}

async function hide(): Promise<VitalsReport | null> {
  beacons.length = 0;
  Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
  window.dispatchEvent(new Event('visibilitychange'));
  await new Promise((resolve) => setTimeout(resolve));
  const [told] = beacons;
  return told ? (JSON.parse(told.replace('/beacon ', '')) as VitalsReport) : null;
}

beforeEach(() => {
  performance.clearMeasures();
  local.remove(STORAGE_KEYS.ranBuilds);
});

describe('what a reader felt', () => {
  test('is reported once, when the page is hidden, for the host and for the remote that was in sight then', async () => {
    const { navigation, go } = openWay('/explore');
    watch(openPage(), navigation);
    measured.LCP({ name: 'LCP', value: 1234.5, entries: [{ startTime: 1234.5 }] });
    go('/my');
    const startTime = performance.now();
    measured.INP({ name: 'INP', value: 96, entries: [{ startTime }] });
    measured.CLS({
      name: 'CLS',
      value: 0.123456,
      entries: [
        { startTime: 1, value: 0.12 },
        { startTime, value: 0.003 },
      ],
    });
    expect((await hide())?.vitals).toEqual([
      { build: host, metric: 'lcp', value: 1235, cache: 'cold' },
      { build: stories, metric: 'lcp', value: 1235, cache: 'cold' },
      { build: host, metric: 'inp', value: 96, cache: 'cold' },
      { build: account, metric: 'inp', value: 96, cache: 'cold' },
      { build: host, metric: 'cls', value: 0.1235, cache: 'cold' },
      { build: stories, metric: 'cls', value: 0.1235, cache: 'cold' },
    ]);
    measured.CLS({ name: 'CLS', value: 0.5, entries: [] });
    expect(await hide()).toBeNull();
  });

  test('says whether its builds had run in this browser before', async () => {
    local.set(STORAGE_KEYS.ranBuilds, JSON.stringify([host, account]));
    watch(openPage(), openWay('/my').navigation);
    performance.measure(READY + account, { start: 10, duration: 210 });
    performance.measure(READY + stories, { start: 10, duration: 90 });
    performance.measure(READY + stories, { start: 500, duration: 1 });
    expect((await hide())?.vitals).toEqual([
      { build: account, metric: 'load', value: 210, cache: 'warm' },
      { build: stories, metric: 'load', value: 90, cache: 'mixed' },
    ]);
    expect(JSON.parse(local.get(STORAGE_KEYS.ranBuilds) ?? '')).toEqual(
      expect.arrayContaining([host, account, stories]),
    );
  });

  test('of a build that is previewed by a link is not reported', async () => {
    const page = openPage();
    watch({ ...page, set: { ...page.set, override: { id: 'a', expires: '' } } }, openWay('/explore').navigation);
    performance.measure(READY + stories, { start: 10, duration: 90 });
    expect(await hide()).toBeNull();
  });
});
