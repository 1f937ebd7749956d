import { describe, expect, test } from '@rstest/core';
import { checkInDto } from './fixtures';
import {
  avatarChoices,
  calendarDays,
  inviteLink,
  nextReward,
  type Streak,
  toAvatars,
  toCheckIn,
  toProfile,
  unsavedEdits,
} from './model';

describe('unsaved edits', () => {
  const saved = toProfile({ name: '宁采臣', avatar: null, gender: 'male', persona: '' });

  test('are those that differ from what is saved', () => {
    expect(unsavedEdits(saved, { name: '宁生', persona: '' })).toEqual({ name: '宁生' });
  });

  test('are gone once typed back', () => {
    expect(unsavedEdits(saved, { name: '宁采臣' })).toEqual({});
  });
});

test('a second check-in of the day awards nothing, against all other fields', () => {
  expect(toCheckIn(checkInDto({ already_checked_in: true, awarded: 16 })).awarded).toBe(0);
});

test('a check-in that takes points is not shown as a reward', () => {
  expect(toCheckIn(checkInDto({ awarded: -5 })).awarded).toBeUndefined();
});

test('an invite link carries the code whole', () => {
  expect(inviteLink('https://liaozhai.example', 'A&B')).toBe('https://liaozhai.example/?invite=A%26B');
});

describe('avatars on offer', () => {
  test.each([
    ['bare', ['/a.svg'], ['/a.svg']],
    ['in data', { data: ['/a.svg', '/b.svg'] }, ['/a.svg', '/b.svg']],
    [
      'with foreign addresses and rubbish left out',
      ['https://elsewhere.example/a.svg', 7, null, '', 'a', '/a.svg'],
      ['/a.svg'],
    ],
    ['with hosts that look like paths left out', ['//elsewhere.example/a.svg', '/\\elsewhere.example/a.svg', '//'], []],
    ['as PHP writes a list with gaps', { data: { 0: '/a.svg', 2: '/b.svg' } }, ['/a.svg', '/b.svg']],
    ['once each', ['/a.svg', '/a.svg'], ['/a.svg']],
    ['by their whole addresses', [`${location.origin}/a.svg`], [`${location.origin}/a.svg`]],
    ['absent', null, []],
    ['as a text', '/a.svg', []],
  ])('%s', (_how, body, expected) => {
    expect(toAvatars(body)).toEqual(expected);
  });

  test('include the present one', () => {
    expect(avatarChoices(['/a.svg'], '/mine.svg')).toEqual(['/mine.svg', '/a.svg']);
    expect(avatarChoices(['/a.svg'], '/a.svg')).toEqual(['/a.svg']);
  });
});

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

  test('leaves out the points of a day whose reward is unknown', () => {
    expect(marks(calendarDays(streak({ rewards: [undefined, 12] }), 'week'))).toEqual([...Array(6).fill('·'), 12]);
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
