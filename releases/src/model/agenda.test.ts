import { describe, expect, test } from '@rstest/core';
import { type Freeze, type FreezeWindow, frozenAt, instantIn, weeklyWindow, windowText } from './agenda.ts';
import { parseSteps, stepsText } from './steps.ts';

const freezeOf = (window: FreezeWindow, reason = 'weekend'): Freeze => ({
  id: '0a1b2c3d',
  window,
  reason,
  by: 'tester',
  at: '2026-01-01T00:00:00.000Z',
});
const until = (windows: FreezeWindow[], at: string) =>
  frozenAt(
    windows.map((window) => freezeOf(window)),
    new Date(at),
  )?.until.toISOString() ?? null;

describe('a weekly freeze window', () => {
  const shanghai = weeklyWindow('Fri 18:00-Mon 08:00', 'Asia/Shanghai');

  test.each([
    ['2026-11-20T09:59:59Z', null],
    ['2026-11-20T10:00:00Z', '2026-11-23T00:00:00.000Z'],
    ['2026-11-22T12:34:56Z', '2026-11-23T00:00:00.000Z'],
    ['2026-11-22T23:59:59Z', '2026-11-23T00:00:00.000Z'],
    ['2026-11-23T00:00:00Z', null],
  ])('in Shanghai at %s is open until %s', (at, expected) => {
    expect(until([shanghai], at)).toBe(expected);
  });

  test('follows the daylight saving time of its zone', () => {
    const berlin = weeklyWindow('Sat 22:00-Sun 06:00', 'Europe/Berlin');
    // the night of 25 October is an hour longer, that of 29 March an hour shorter
    expect(until([berlin], '2026-10-24T20:30:00Z')).toBe('2026-10-25T05:00:00.000Z');
    expect(until([berlin], '2026-10-25T04:59:00Z')).toBe('2026-10-25T05:00:00.000Z');
    expect(until([berlin], '2026-10-25T05:00:00Z')).toBeNull();
    expect(until([berlin], '2026-03-28T21:30:00Z')).toBe('2026-03-29T04:00:00.000Z');
  });

  test.each([
    [
      'an hour comes twice: the first 02:30',
      'Sat 22:00-Sun 02:30',
      'Europe/Berlin',
      '2026-10-24T20:30',
      '2026-10-25T00:30',
    ],
    ['within the first 02:00 to 03:00', 'Sat 22:00-Sun 02:30', 'Europe/Berlin', '2026-10-25T00:10', '2026-10-25T00:30'],
    ['within the second', 'Sat 22:00-Sun 02:30', 'Europe/Berlin', '2026-10-25T01:10', '2026-10-25T01:30'],
    ['the end of both', 'Sat 22:00-Sun 03:00', 'Europe/Berlin', '2026-10-25T00:10', '2026-10-25T02:00'],
    ['put back before the beginning', 'Sun 02:30-Sun 03:30', 'Europe/Berlin', '2026-10-25T00:40', '2026-10-25T01:00'],
    ['the end is skipped', 'Sat 22:00-Sun 02:30', 'Europe/Berlin', '2026-03-28T21:30', '2026-03-29T01:00'],
    ['the beginning is skipped', 'Sun 02:30-Sun 04:00', 'Europe/Berlin', '2026-03-29T01:00', '2026-03-29T02:00'],
    ['the first 01:30', 'Fri 18:00-Sun 01:30', 'America/New_York', '2026-10-31T12:00', '2026-11-01T05:30'],
    ['the end is skipped', 'Fri 18:00-Sun 02:30', 'America/New_York', '2026-03-07T12:00', '2026-03-08T07:00'],
    ['half an hour twice', 'Sat 22:00-Sun 01:45', 'Australia/Lord_Howe', '2026-04-04T12:00', '2026-04-04T14:45'],
    ['half an hour is skipped', 'Sat 22:00-Sun 02:15', 'Australia/Lord_Howe', '2026-10-03T13:00', '2026-10-03T15:30'],
    ['midnight is skipped', 'Fri 18:00-Sun 00:30', 'America/Santiago', '2026-09-05T12:00', '2026-09-06T04:00'],
    ['a change in the middle', 'Mon 08:00-Mon 07:00', 'Europe/Berlin', '2026-10-19T07:00', '2026-10-26T06:00'],
  ])('ends with its freeze where clocks change (%s): %s %s at %s until %s', (_, text, zone, at, expected) => {
    const windows = [weeklyWindow(text, zone)];
    expect(until(windows, `${at}:00Z`)).toBe(`${expected}:00.000Z`);
    expect(until(windows, `${expected}:00Z`)).toBeNull();
    expect(until(windows, new Date(Date.parse(`${expected}:00Z`) - 1000).toISOString())).not.toBeNull();
  });

  test('is joined with adjacent ones, with a bounded end', () => {
    const monday = weeklyWindow('Mon 08:00-Mon 12:00', 'Asia/Shanghai');
    expect(until([shanghai, monday], '2026-11-21T00:00:00Z')).toBe('2026-11-23T04:00:00.000Z');
    const always = [weeklyWindow('Mon 00:00-Thu 00:00', 'UTC'), weeklyWindow('Thu 00:00-Mon 00:00', 'UTC')];
    expect(until(always, '2026-11-21T00:00:00Z')).not.toBeNull();
  });

  test('is printed as it is entered', () => {
    expect(windowText(shanghai)).toBe('Fri 18:00-Mon 08:00 Asia/Shanghai');
  });

  test.each(['Friday 18:00-Mon 08:00', 'Fri 24:00-Mon 08:00', 'Fri 18:00', 'Fri 18:00-Fri 18:00'])(
    'is not %s',
    (text) => {
      expect(() => weeklyWindow(text, 'UTC')).toThrow('is not a time of the week');
    },
  );
});

test('times belong to the given zone or contain an offset', () => {
  expect(instantIn('2026-12-24 18:00', 'Europe/Berlin').toISOString()).toBe('2026-12-24T17:00:00.000Z');
  expect(instantIn('2026-07-01T18:00', 'Europe/Berlin').toISOString()).toBe('2026-07-01T16:00:00.000Z');
  expect(instantIn('2026-12-24T18:00:00+08:00', 'UTC').toISOString()).toBe('2026-12-24T10:00:00.000Z');
  const notTimes = ['2026-02-30 10:00', '2026-02-30T10:00Z', '2026-12-24T24:00:00Z', '2026-12-24T10:00:00+25:00'];
  for (const wrong of [...notTimes, 'tomorrow', '2026-12-24', 'Dec 24 18:00Z', '12Z', 'noon 5Z', '24.12.2026 10:00Z'])
    expect(() => instantIn(wrong, 'UTC')).toThrow('is not a time');
  // CST means China's or Chicago's time
  for (const wrong of ['Mars/Olympus', 'CST', 'IST', 'EST', 'PST8PDT', ''])
    expect(() => instantIn('2026-12-24 18:00', wrong)).toThrow('is not a time zone');
});

describe('the steps of a schedule', () => {
  test('are printed as they are entered', () => {
    expect(stepsText(parseSteps('5@now, 25%@90m,50@1d,100@36h'))).toBe('5@now,25@90m,50@1d,100@36h');
  });

  test.each([
    ['25@now,5@1h', /do not rise/],
    ['5@1h,25@1h', /do not rise/],
    ['5@soon', /is not a step/],
    ['0@now', /above 0/],
    ['101@now', /above 0/],
    ['5@40d', /30 days/],
  ])('are not %s', (text, problem) => {
    expect(() => parseSteps(text)).toThrow(problem);
  });
});

test.each([
  ['skipped', '2026-03-08 02:30', 'America/New_York', '2026-03-08T07:30'],
  ['skipped', '2026-03-29 02:30', 'Europe/Berlin', '2026-03-29T01:30'],
  ['skipped with its midnight', '2026-09-06 00:30', 'America/Santiago', '2026-09-06T04:30'],
  ['skipped by half an hour', '2026-10-04 02:15', 'Australia/Lord_Howe', '2026-10-03T15:45'],
  ['shown twice', '2026-11-01 01:30', 'America/New_York', '2026-11-01T05:30'],
  ['shown twice', '2026-10-25 02:30', 'Europe/Berlin', '2026-10-25T00:30'],
  ['shortly before a change', '2026-03-08 01:59', 'America/New_York', '2026-03-08T06:59'],
  ['shortly after a change', '2026-03-08 03:00', 'America/New_York', '2026-03-08T07:00'],
  ['in a skipped day', '2011-12-30 12:00', 'Pacific/Apia', '2011-12-30T22:00'],
])('a time that is %s: %s in %s is %s', (_, text, zone, expected) => {
  expect(instantIn(text, zone).toISOString()).toBe(`${expected}:00.000Z`);
});
