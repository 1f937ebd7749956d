import { describe, expect, test } from '@rstest/core';
import { dayKey, formatClock, formatDate, formatDay, formatMoment, formatRelative, groupByDay } from './time';

// 2025-11-04 12:00 in Shanghai
const now = '2025-11-04T04:00:00Z';

describe('formatRelative', () => {
  const table: [instant: string, text: string][] = [
    ['2025-11-04T04:00:00Z', '刚刚'],
    ['2025-11-04T03:59:01Z', '刚刚'],
    ['2025-11-04T04:02:00Z', '刚刚'],
    ['2025-11-04T03:59:00Z', '1 分钟前'],
    ['2025-11-04T03:00:01Z', '59 分钟前'],
    ['2025-11-04T03:00:00Z', '11:00'],
    ['2025-11-03T16:00:00Z', '00:00'],
    ['2025-11-03T15:59:59Z', '昨天 23:59'],
    ['2025-11-03T13:03:00Z', '昨天 21:03'],
    ['2025-11-02T16:00:00Z', '昨天 00:00'],
    ['2025-11-02T15:59:59Z', '11月2日'],
    ['2024-12-31T16:00:00Z', '1月1日'],
    ['2024-12-31T15:59:59Z', '2024年12月31日'],
    ['2025-11-06T13:03:00Z', '11月6日 21:03'],
    ['nonsense', ''],
  ];
  for (const [instant, text] of table) {
    test(`${instant} reads “${text}”`, () => expect(formatRelative(instant, now)).toBe(text));
  }

  test('just after midnight a minute ago is still minutes, not yesterday', () => {
    expect(formatRelative('2025-11-03T15:58:00Z', '2025-11-03T16:03:00Z')).toBe('5 分钟前');
  });

  test('the year turns by Shanghai midnight', () => {
    expect(formatRelative('2025-12-30T16:30:00Z', '2025-12-31T16:30:00Z')).toBe('昨天 00:30');
    expect(formatDay('2025-12-30T15:30:00Z', '2025-12-31T16:30:00Z')).toBe('2025年12月30日');
  });
});

test('items are grouped by the Shanghai day they fall on', () => {
  const items = ['2025-11-04T01:00:00Z', '2025-11-03T16:00:00Z', '2025-11-03T15:59:59Z', '2025-10-01T00:00:00Z'];
  const groups = groupByDay(items, (item) => item, now);
  expect(groups.map(({ key, title, items: members }) => [key, title, members.length])).toEqual([
    ['2025-11-04', '今天', 2],
    ['2025-11-03', '昨天', 1],
    ['2025-10-01', '10月1日', 1],
  ]);
});

test('items without a time are grouped under no day', () => {
  const items = [undefined, '2025-11-04T01:00:00Z', undefined, undefined, '2025-11-04T00:00:00Z'];
  const groups = groupByDay(items, (item) => item, now);
  expect(groups.map(({ title, items: members }) => [title, members.length])).toEqual([
    ['', 1],
    ['今天', 1],
    ['', 2],
    ['今天', 1],
  ]);
});

test('the day key is that of Shanghai, on any machine', () => {
  expect(dayKey('2025-02-28T16:00:00Z')).toBe('2025-03-01');
  expect(dayKey(Date.UTC(2024, 1, 29, 15, 59))).toBe('2024-02-29');
});

describe('the last hours of the year 9999, by which servers mean never', () => {
  const table = ['9999-12-31T00:00:00Z', '9999-12-31T16:00:00Z', '9999-12-31T23:59:59.999Z'];
  test.each(table)('%s stays in it', (instant) => {
    expect(formatDate(instant, now)).toBe('9999年12月31日');
    expect(formatMoment(instant, now)).toBe(`9999年12月31日 ${formatClock(instant)}`);
    expect([formatRelative(instant, now), formatDay(instant, now)]).toEqual([
      `9999年12月31日 ${formatClock(instant)}`,
      '9999年12月31日',
    ]);
    expect(dayKey(instant)).toBe('9999-12-31');
  });
});
