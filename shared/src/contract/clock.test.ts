import { afterEach, describe, expect, test } from '@rstest/core';
import { noteServerTime, serverNow } from './clock';
import { DAY_MS, HOUR_MS, SECOND_MS } from './waits';

const answer = (aheadMs: number, headers: Record<string, string> = {}, tookMs = 0) => {
  const now = Date.now();
  noteServerTime({ date: new Date(now + aheadMs).toUTCString(), ...headers }, now - tookMs);
};
/** Adding 0 turns -0 into 0. */
const aheadSeconds = () => Math.round((serverNow() - Date.now()) / 1000) + 0;

afterEach(() => answer(0));

describe('the time of the server', () => {
  test.each([3 * HOUR_MS, -5 * HOUR_MS, 2 * DAY_MS, -400 * DAY_MS, 20 * 365 * DAY_MS])('%d ms ahead', (ahead) => {
    answer(ahead);
    expect(Math.abs(aheadSeconds() - ahead / SECOND_MS)).toBeLessThanOrEqual(2);
    // the user corrected the clock
    answer(0);
    expect(aheadSeconds()).toBe(0);
  });

  test.each<[string, () => void]>([
    ['differs by less than a minute', () => answer(40 * SECOND_MS)],
    ['comes from a shared cache', () => answer(-HOUR_MS, { age: '3600' })],
    ['may come from the cache of the browser', () => answer(-HOUR_MS, { 'cache-control': 'public, max-age=7200' })],
    ['was slept through', () => answer(HOUR_MS, {}, 2 * HOUR_MS)],
    ['was asked before the clock was put back', () => answer(HOUR_MS, {}, -HOUR_MS)],
    ['names no time', () => noteServerTime({}, Date.now())],
    ['names a wrong one', () => noteServerTime({ date: 'gestern' }, Date.now())],
  ])('is the device’s if a response %s', (_, note) => {
    note();
    expect(aheadSeconds()).toBe(0);
  });
});
