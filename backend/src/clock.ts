import { randomInt } from 'node:crypto';

/** Returns the time in ms since 1970. Injected, so that tests can change it. */
export type Clock = () => number;

/** Formats a time as ISO 8601 in UTC with microseconds, as Laravel does. */
export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString().replace('Z', '000Z');

export const isoTimeOrNull = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : isoTime(milliseconds);

const shanghai = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Shanghai' });

/** Returns the calendar day in Shanghai, `YYYY-MM-DD`. */
export const shanghaiDate = (milliseconds: number): string => shanghai.format(milliseconds);

/** Returns a number of today with random digits, for people to quote. Call it inside a transaction. */
export function datedNumber(clock: Clock, digits: number, isUsed: (number: string) => boolean): string {
  const day = shanghaiDate(clock()).replaceAll('-', '');
  for (;;) {
    const number = `${day}${String(randomInt(10 ** digits)).padStart(digits, '0')}`;
    if (!isUsed(number)) return number;
  }
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
