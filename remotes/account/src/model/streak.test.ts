import { describe, expect, test } from '@rstest/core';
import { calendarDays, nextReward, type Streak } from './streak';

// 2026-11-21 is a Saturday
const streak = (patch: Partial<Streak> = {}): Streak => ({
  today: '2026-11-21',
  isCheckedInToday: false,
  length: 0,
  rewards: [10, 12, 14],
  ...patch,
});

const marks = (days: ReturnType<typeof calendarDays>) =>
  days.map((day) => (day.isCheckedIn ? '✓' : (day.reward ?? '·')));

describe('the week', () => {
  test('begins on Monday and ends on Sunday', () => {
    const days = calendarDays(streak(), 'week');
    expect(days.map((day) => day.key)).toEqual([
      '2026-11-16',
      '2026-11-17',
      '2026-11-18',
      '2026-11-19',
      '2026-11-20',
      '2026-11-21',
      '2026-11-22',
    ]);
    expect(days.find((day) => day.isToday)?.weekday).toBe(5);
  });

  test('marks the days of a streak that today still continues', () => {
    expect(marks(calendarDays(streak({ length: 3 }), 'week'))).toEqual(['·', '·', '✓', '✓', '✓', 14, 14]);
  });

  test('marks today once it is checked in, and offers the next reward tomorrow', () => {
    expect(marks(calendarDays(streak({ length: 1, isCheckedInToday: true }), 'week'))).toEqual([
      '·',
      '·',
      '·',
      '·',
      '·',
      '✓',
      12,
    ]);
  });

  test('without a streak offers the first reward today', () => {
    expect(marks(calendarDays(streak(), 'week'))).toEqual(['·', '·', '·', '·', '·', 10, 12]);
  });

  test('says nothing of points where the rewards are unknown', () => {
    expect(marks(calendarDays(streak({ rewards: [] }), 'week'))).toEqual(['·', '·', '·', '·', '·', '·', '·']);
  });

  test('on a Sunday is still the week that began on Monday', () => {
    expect(calendarDays(streak({ today: '2026-11-22' }), 'week')[0]?.key).toBe('2026-11-16');
  });
});

describe('the month', () => {
  test('has its own length, also in a leap February', () => {
    expect(calendarDays(streak(), 'month')).toHaveLength(30);
    expect(calendarDays(streak({ today: '2028-02-10' }), 'month').at(-1)?.key).toBe('2028-02-29');
  });

  test('shows a streak that began in the month before from its own first day', () => {
    const days = calendarDays(streak({ today: '2026-11-03', isCheckedInToday: true, length: 9 }), 'month');
    expect(marks(days).slice(0, 4)).toEqual(['✓', '✓', '✓', 14]);
  });
});

test('the last reward repeats while the streak lasts', () => {
  expect([0, 1, 2, 3, 40].map((length) => nextReward(streak({ length })))).toEqual([10, 12, 14, 14, 14]);
});
