import '../testing/pageFixture';
import { onTestEnd } from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { type AssetFailure, createAssetLoader, loadTimeoutMs } from './assetLoader';

function on(effectiveType: string | undefined, hostMs: number | null) {
  Object.defineProperty(navigator, 'connection', { value: effectiveType && { effectiveType }, configurable: true });
  const entries = hostMs === null ? [] : [{ duration: hostMs } as PerformanceEntry];
  const spy = rs.spyOn(performance, 'getEntriesByName').mockReturnValue(entries);
  onTestEnd(() => {
    Reflect.deleteProperty(navigator, 'connection');
    spy.mockRestore();
  });
}

test.each([
  ['a good network', '4g', 700, 2500],
  ['one of which the browser tells nothing', undefined, null, 2500],
  ['one that took nine seconds for the host', undefined, 9000, 9000],
  ['3G, the host from a cache', '3g', 0, 6000],
  ['2G, the host from a cache', '2g', 0, 15_000],
  ['2G at its worst', 'slow-2g', 20_000, 30_000],
  ['a phone that slept while the host was on its way', undefined, 600_000, 30_000],
])('%s', (_, effectiveType, hostMs, expected) => {
  on(effectiveType, hostMs);
  expect(loadTimeoutMs('/host.js', true)).toBe(expected);
  expect(loadTimeoutMs('/host.js', false)).toBe(Math.max(10_000, expected));
});

test.each([true, false])('a script that a screen waits for (%s) goes ahead of pictures', async (isAwaited) => {
  const scripts: HTMLScriptElement[] = [];
  const append = rs.spyOn(document.head, 'append').mockImplementation((...nodes) => {
    for (const script of nodes as HTMLScriptElement[]) {
      scripts.push(script);
      queueMicrotask(() => script.onload?.(new Event('load')));
    }
  });
  onTestEnd(() => append.mockRestore());
  await createAssetLoader(
    () => 60_000,
    () => isAwaited,
  ).script('/builds/a.js');
  expect(scripts.map(({ fetchPriority }) => fetchPriority)).toEqual([
    isAwaited ? 'high' : expect.not.stringMatching('high'),
  ]);
});

describe('a file that does not come', () => {
  /** Fails each script with this status in its timing. Returns the requested addresses. */
  function refuseScripts(status: number | null) {
    const asked: string[] = [];
    const timings = status === null ? [] : [{ responseStatus: status } as unknown as PerformanceEntry];
    const timing = rs.spyOn(performance, 'getEntriesByName').mockReturnValue(timings);
    const append = rs.spyOn(document.head, 'append').mockImplementation((...nodes) => {
      for (const script of nodes as HTMLScriptElement[]) {
        const { pathname, search } = new URL(script.src);
        asked.push(pathname + search);
        queueMicrotask(() => script.onerror?.(new Event('error')));
      }
    });
    onTestEnd(() => {
      timing.mockRestore();
      append.mockRestore();
    });
    return asked;
  }

  const failures: [AssetFailure, number | null, string[]][] = [
    ['unreachable', null, ['/builds/a.js', '/builds/a.js?again=1']],
    ['unreachable', 503, ['/builds/a.js', '/builds/a.js?again=1']],
    ['corrupt', 200, ['/builds/a.js', '/builds/a.js?again=1']],
    ['gone', 404, ['/builds/a.js']],
  ];
  test.each(failures)('is %s (%s) and requested as %j', async (kind, status, expected) => {
    const asked = refuseScripts(status);
    await expect(createAssetLoader(() => 60_000).script('/builds/a.js')).rejects.toMatchObject({ kind });
    expect(asked).toEqual(expected);
  });

  test('in time is requested once, and again by the next caller', async () => {
    const asked: string[] = [];
    const append = rs.spyOn(document.head, 'append').mockImplementation((...nodes) => {
      asked.push(...(nodes as HTMLScriptElement[]).map(({ src }) => new URL(src).pathname));
    });
    onTestEnd(() => append.mockRestore());
    const loader = createAssetLoader(() => 1);
    await expect(loader.script('/builds/a.js')).rejects.toMatchObject({ kind: 'timeout' });
    expect(asked).toEqual(['/builds/a.js']);
    await expect(loader.script('/builds/a.js')).rejects.toMatchObject({ kind: 'timeout' });
    expect(asked).toEqual(['/builds/a.js', '/builds/a.js']);
  });
});
