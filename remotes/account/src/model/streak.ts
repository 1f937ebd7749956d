export interface CalendarDay {
  /** `2026-11-21` */
  key: string;
  dayOfMonth: number;
  /** 0 is Monday */
  weekday: number;
  isToday: boolean;
  /** known to be checked in: part of the running streak */
  isCheckedIn: boolean;
  /** points this day brings if no day is left out; undefined for the past and where rewards are unknown */
  reward: number | undefined;
}

export interface Streak {
  /** Shanghai day */
  today: string;
  isCheckedInToday: boolean;
  /** days in a row, ending today or, while today is still open, yesterday */
  length: number;
  /** points for the first, second … day in a row; the last one repeats */
  rewards: readonly number[];
}

const DAY_MS = 86_400_000;
const dayNumber = (key: string): number => Math.round(Date.parse(`${key}T00:00:00Z`) / DAY_MS);
const keyOfDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7;

/** Points for the given day in a row (1-based); undefined where the rules do not say. */
export const rewardOf = (rewards: readonly number[], dayInRow: number): number | undefined =>
  rewards[Math.min(dayInRow, rewards.length) - 1];

/** What checking in now brings. */
export const nextReward = ({ rewards, length }: Streak): number | undefined => rewardOf(rewards, length + 1);

function calendarDay(day: number, streak: Streak): CalendarDay {
  const today = dayNumber(streak.today);
  const lastChecked = streak.isCheckedInToday ? today : today - 1;
  const isAhead = day > lastChecked;
  const key = keyOfDay(day);
  return {
    key,
    dayOfMonth: Number(key.slice(8)),
    weekday: weekdayOf(day),
    isToday: day === today,
    isCheckedIn: !isAhead && day > lastChecked - streak.length,
    reward: isAhead ? rewardOf(streak.rewards, streak.length + day - lastChecked) : undefined,
  };
}

/** The days of this week (Monday first) or of this month. */
export function calendarDays(streak: Streak, span: 'week' | 'month'): CalendarDay[] {
  const today = dayNumber(streak.today);
  const dayOfMonth = Number(streak.today.slice(8));
  const first = span === 'week' ? today - weekdayOf(today) : today - dayOfMonth + 1;
  const [year = 0, month = 1] = streak.today.split('-').map(Number);
  const count = span === 'week' ? 7 : new Date(Date.UTC(year, month, 0)).getUTCDate();
  return Array.from({ length: count }, (_, index) => calendarDay(first + index, streak));
}
