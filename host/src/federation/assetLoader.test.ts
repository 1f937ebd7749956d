import '../testing/pageFixture';
import { onTestEnd } from '@liaozhai/shared/testing';
import { expect, rs, test } from '@rstest/core';
import { loadTimeoutMs } from './assetLoader';

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
