import { expect, test } from '@rstest/core';
import { formatPoints, formatSignedPoints } from './numbers';

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
