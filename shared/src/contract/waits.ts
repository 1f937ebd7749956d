import type { ApiError } from './failures.ts';

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Offset of Shanghai's time: China has one zone, without daylight saving. */
export const SHANGHAI_MS = 8 * HOUR_MS;

/** Longest `Retry-After` that is waited for; after a longer one only the user can retry. */
export const MAX_WAIT_SECONDS = 15 * 60;

const httpDate =
  /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? (?:\d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} \d\d:\d\d:\d\d GMT|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})/g;

/** Parses an HTTP date to ms since the epoch. Its oldest form names no zone: all three are GMT. */
export const parseHttpDate = (date: string) => Date.parse(date.endsWith('GMT') ? date : `${date} GMT`);

/**
 * Returns the seconds of `Retry-After`, at least 1, the longest of a list. Null if over 15 minutes, undefined if missing. A date
 * is compared with the response's own `Date`, since the device's clock may be wrong.
 */
export function retryAfterSeconds(header: unknown, answeredAt?: unknown): number | null | undefined {
  const text = typeof header === 'string' || typeof header === 'number' ? String(header) : '';
  const dates = text.match(httpDate) ?? [];
  const respondedAt = parseHttpDate(String(answeredAt));
  const now = Number.isNaN(respondedAt) ? Date.now() : respondedAt;
  const numbers = text.replace(httpDate, '').split(',');
  const waits = [
    ...dates.map((date) => (parseHttpDate(date) - now) / SECOND_MS),
    ...numbers.map((figure) => (/^\s*[+-]?\d+(\.\d+)?\s*$/.test(figure) ? Number(figure) : Number.NaN)),
  ].filter((wait) => !Number.isNaN(wait));
  if (waits.length === 0) return undefined;
  const seconds = Math.max(1, Math.ceil(Math.max(...waits)));
  return seconds > MAX_WAIT_SECONDS ? null : seconds;
}

/** How pauses grow: they double from the first to the longest. Each is shortened by a random fraction of up to `spread`. */
export interface Pace {
  firstMs: number;
  longestMs: number;
  spread: number;
}

/** Pauses after refusals and failures of the server. */
export const PATIENT: Pace = { firstMs: 2_000, longestMs: MINUTE_MS, spread: 0.5 };

/** Delay in ms after `failures` in a row, or null if only the user may retry. `wait` is from `retryAfterSeconds`. */
export function pauseMs(failures: number, pace: Pace, wait?: number | null, random = Math.random): number | null {
  if (wait === null) return null;
  const backoffMs = Math.min(pace.longestMs, pace.firstMs * 2 ** failures) * (1 - pace.spread * (1 - random()));
  // never before the server's time, and not from all pages at the same moment
  return Math.max(backoffMs, (wait ?? 0) * SECOND_MS * (1 + 0.1 * random()));
}

/** Returns the wait in a response's error; see `retryAfterSeconds`. */
export const waitOf = (error: ApiError): number | null | undefined =>
  'retryAfterSeconds' in error ? error.retryAfterSeconds : undefined;
