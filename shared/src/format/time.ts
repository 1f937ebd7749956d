import { DAY_MS, HOUR_MS, MINUTE_MS, SHANGHAI_MS } from '../contract/waits';

// An unreadable instant gives '' in all functions below.

/** Milliseconds since 1970, a `Date`, or the API's ISO string. */
export type Instant = number | string | Date;

const millisecondsOf = (instant: Instant): number => new Date(instant).getTime();
// year 10000 would be the next day in Shanghai: servers mean "never" by the last day of 9999
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59);
/** A date whose UTC getters return Shanghai time. */
const toShanghai = (instant: Instant): Date => new Date(Math.min(millisecondsOf(instant) + SHANGHAI_MS, LAST_MS));
const dayNumber = (instant: Instant): number => Math.floor(toShanghai(instant).getTime() / DAY_MS);
const isDate = (date: Date): boolean => !Number.isNaN(date.getTime());
const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** `21:03`, in Shanghai. */
export function formatClock(instant: Instant): string {
  const date = toShanghai(instant);
  if (!isDate(date)) return '';
  return `${twoDigits(date.getUTCHours())}:${twoDigits(date.getUTCMinutes())}`;
}

/** `11月3日`, with the year unless it is `now`'s: `2025年11月3日`. */
export function formatDate(instant: Instant, now: Instant): string {
  const date = toShanghai(instant);
  if (!isDate(date)) return '';
  const day = `${date.getUTCMonth() + 1}月${date.getUTCDate()}日`;
  return date.getUTCFullYear() === toShanghai(now).getUTCFullYear() ? day : `${date.getUTCFullYear()}年${day}`;
}

/** `11月3日 21:03`, with the year as in `formatDate`. */
export const formatMoment = (instant: Instant, now: Instant): string =>
  `${formatDate(instant, now)} ${formatClock(instant)}`.trim();

/**
 * Relative time: 刚刚 · 5 分钟前 · 09:12 (today) · 昨天 21:03 · 11月3日 · 2025年11月3日. An instant up to an hour ahead, from a fast server
 * clock, gives 刚刚.
 */
export function formatRelative(instant: Instant, now: Instant): string {
  const age = millisecondsOf(now) - millisecondsOf(instant);
  if (Number.isNaN(age)) return '';
  if (age < -HOUR_MS) return formatMoment(instant, now);
  if (age < MINUTE_MS) return '刚刚';
  if (age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)} 分钟前`;
  const days = dayNumber(now) - dayNumber(instant);
  if (days === 0) return formatClock(instant);
  if (days === 1) return `昨天 ${formatClock(instant)}`;
  return formatDate(instant, now);
}

/** Shanghai day of an instant as a sortable key: `2025-11-03`. */
export function dayKey(instant: Instant): string {
  const date = toShanghai(instant);
  return isDate(date) ? date.toISOString().slice(0, 10) : '';
}

/** Heading of a day: 今天 · 昨天 · 11月3日 · 2025年11月3日. */
export function formatDay(instant: Instant, now: Instant): string {
  const days = dayNumber(now) - dayNumber(instant);
  if (Number.isNaN(days)) return '';
  if (days === 0) return '今天';
  return days === 1 ? '昨天' : formatDate(instant, now);
}

/**
 * Groups adjacent items of one Shanghai day, in the given order. `key` is `2025-11-03`, `title` 今天, 昨天, 11月3日 …; both are
 * empty for items without a time.
 */
export function groupByDay<Item>(
  items: readonly Item[],
  instantOf: (item: Item) => Instant | undefined,
  now: Instant,
): { key: string; title: string; items: Item[] }[] {
  const groups: ReturnType<typeof groupByDay<Item>> = [];
  for (const item of items) {
    const instant = instantOf(item);
    const [key, title] = instant === undefined ? ['', ''] : [dayKey(instant), formatDay(instant, now)];
    const last = groups.at(-1);
    if (last?.key === key) last.items.push(item);
    else groups.push({ key, title, items: [item] });
  }
  return groups;
}
