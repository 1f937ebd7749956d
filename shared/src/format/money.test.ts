import { expect, test } from '@rstest/core';
import { formatBytes, formatCount, formatPoints, formatSignedPoints } from './numbers';

test('points carry separators and a true minus sign', () => {
  expect([0, 8, 1234, 1_234_567, -1234, 2.5].map(formatPoints)).toEqual([
    '0 点',
    '8 点',
    '1,234 点',
    '1,234,567 点',
    '−1,234 点',
    '2.5 点',
  ]);
});

test('a change of the balance shows its sign, zero has none', () => {
  expect([50, -3, 0, 12_000].map(formatSignedPoints)).toEqual(['+50 点', '−3 点', '0 点', '+12,000 点']);
});

test('large counts are told in 万 and 亿, never rounded up', () => {
  expect([0, 9999, 10_000, 12_999, 99_999_999, 340_000_000].map(formatCount)).toEqual([
    '0',
    '9,999',
    '1万',
    '1.2万',
    '9999.9万',
    '3.4亿',
  ]);
});

test('bytes are told in the unit that fits', () => {
  expect([0, 512, 1024, 1536, 3 * 1024 ** 2, 5 * 1024 ** 4].map(formatBytes)).toEqual([
    '0 B',
    '512 B',
    '1 KB',
    '1.5 KB',
    '3 MB',
    '5120 GB',
  ]);
});
