/** Milliseconds since 1970; handed in so that tests can move through days. */
export type Clock = () => number;

/** ISO 8601 in UTC with microseconds, as Laravel writes it. */
export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString().replace('Z', '000Z');

export const isoTimeOrNull = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : isoTime(milliseconds);

const shanghai = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Shanghai' });

/** The calendar day in Shanghai, `YYYY-MM-DD`. */
export const shanghaiDate = (milliseconds: number): string => shanghai.format(milliseconds);

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
