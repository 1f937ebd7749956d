import type { ApiError } from './failures.ts';
import { MINUTE_MS, SECOND_MS } from './units.ts';

/** A server that wants to be left alone for longer is asked again by the reader only. */
export const LONGEST_WAIT_SECONDS = 15 * 60;

const httpDate =
  /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? (?:\d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} \d\d:\d\d:\d\d GMT|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})/g;

/** Of an HTTP date, ms since the epoch. The older of its three forms names no zone: all are in GMT. */
export const instantOf = (date: string) => Date.parse(date.endsWith('GMT') ? date : `${date} GMT`);

/**
 * The seconds that `Retry-After` names, at least 1; the longest of a list. Null where that is over a quarter of an hour, undefined
 * where it names none. A date counts from the answer's own `Date`, since the device's clock may be wrong.
 */
export function retryAfterSeconds(header: unknown, answeredAt?: unknown): number | null | undefined {
  const text = typeof header === 'string' || typeof header === 'number' ? String(header) : '';
  const dates = text.match(httpDate) ?? [];
  const served = instantOf(String(answeredAt));
  const now = Number.isNaN(served) ? Date.now() : served;
  const figures = text.replace(httpDate, '').split(',');
  const waits = [
    ...dates.map((date) => (instantOf(date) - now) / SECOND_MS),
    ...figures.map((figure) => (/^\s*[+-]?\d+(\.\d+)?\s*$/.test(figure) ? Number(figure) : Number.NaN)),
  ].filter((wait) => !Number.isNaN(wait));
  if (waits.length === 0) return undefined;
  const seconds = Math.max(1, Math.ceil(Math.max(...waits)));
  return seconds > LONGEST_WAIT_SECONDS ? null : seconds;
}

/** How pauses grow: they double from the first to the longest, each shortened by a random part of up to `spread`. */
export interface Pace {
  firstMs: number;
  longestMs: number;
  spread: number;
}

/** For what the server refuses or fails at. */
export const PATIENT: Pace = { firstMs: 2_000, longestMs: MINUTE_MS, spread: 0.5 };

/** Milliseconds before the next try after `failures` in a row; null where only the reader tries again. `wait` as `retryAfterSeconds` gives it. */
export function pauseMs(failures: number, pace: Pace, wait?: number | null, random = Math.random): number | null {
  if (wait === null) return null;
  const own = Math.min(pace.longestMs, pace.firstMs * 2 ** failures) * (1 - pace.spread * (1 - random()));
  // never before the server's time, and not all pages in the same instant
  return Math.max(own, (wait ?? 0) * SECOND_MS * (1 + 0.1 * random()));
}

/** The wait that an answer named, as `retryAfterSeconds` gives it. */
export const waitOf = (error: ApiError): number | null | undefined =>
  'retryAfterSeconds' in error ? error.retryAfterSeconds : undefined;
