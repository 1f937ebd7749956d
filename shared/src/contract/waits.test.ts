import { describe, expect, test } from '@rstest/core';
import { pauseMs, retryAfterSeconds } from '.';

const served = 'Wed, 25 Nov 2026 03:00:00 GMT';

describe('Retry-After', () => {
  test.each<[unknown, number | null | undefined]>([
    ['5', 5],
    [5, 5],
    [' 7 ', 7],
    ['1.2', 2],
    ['5, 7', 7],
    ['7,5', 7],
    ['bald, 5', 5],
    ['0', 1],
    ['-3', 1],
    ['900', 900],
    ['901', null],
    ['2147484', null],
    ['9999999999', null],
    ['9'.repeat(400), null],
    ['Wed, 25 Nov 2026 03:00:17 GMT', 17],
    ['Wednesday, 25-Nov-26 03:00:17 GMT', 17],
    ['Wed Nov 25 03:00:17 2026', 17],
    ['Wed, 25 Nov 2026 03:00:17 GMT, Wed, 25 Nov 2026 03:00:30 GMT', 30],
    ['5, Wed, 25 Nov 2026 03:00:17 GMT', 17],
    ['Tue, 24 Nov 2026 03:00:17 GMT', 1],
    ['Fri, 01 Jan 2099 00:00:00 GMT', null],
    ['bald', undefined],
    ['bald 5', undefined],
    ['5 seconds', undefined],
    ['0x10', undefined],
    ['1e3', undefined],
    ['Infinity', undefined],
    ['５', undefined],
    ['2099', null],
    ['Fri, 99 Jan 2099 99:00:00 GMT', undefined],
    ['', undefined],
    [',', undefined],
    [null, undefined],
    [undefined, undefined],
    [['5'], undefined],
  ])('%j means %j', (header, seconds) => {
    expect(retryAfterSeconds(header, served)).toBe(seconds);
  });

  test('a date is compared with the device’s clock if the response has no Date', () => {
    expect(retryAfterSeconds(new Date(Date.now() + 30_000).toUTCString())).toBeGreaterThanOrEqual(29);
  });
});

describe('the pause before a retry', () => {
  const pace = { firstMs: 2_000, longestMs: 60_000, spread: 0.5 };
  const grown = (wait?: number | null, random = () => 1) => [0, 1, 2, 9].map((n) => pauseMs(n, pace, wait, random));

  test('doubles up to the longest, a random part shorter', () => {
    expect(grown()).toEqual([2_000, 4_000, 8_000, 60_000]);
    expect(grown(undefined, () => 0)).toEqual([1_000, 2_000, 4_000, 30_000]);
  });

  test('is never shorter than the server’s wait, and stays finite after any number of failures', () => {
    expect(grown(5, () => 0)).toEqual([5_000, 5_000, 5_000, 30_000]);
    for (const pause of grown(900)) expect(pause).toBeCloseTo(990_000);
    expect(pauseMs(5_000, pace)).toBeLessThanOrEqual(60_000);
  });

  test('is left to the user if the server’s wait is longer', () => {
    expect(grown(null)).toEqual([null, null, null, null]);
  });
});
