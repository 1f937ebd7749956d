import { MINUTE_MS, SECOND_MS } from './units.ts';
import { instantOf } from './waits.ts';

const KEY = Symbol.for('liaozhai.clock');

interface Correction {
  /** How far the server's clock is ahead of the device's. */
  aheadMs: number;
}

/** One per page: each bundle has its own copy of this file. */
function correction(): Correction {
  const globals = globalThis as typeof globalThis & Record<symbol, Correction | undefined>;
  globals[KEY] ??= { aheadMs: 0 };
  return globals[KEY];
}

/** Sent to the window when `serverNow` jumps. */
export const CLOCK_CORRECTED = 'liaozhai:clock';

/** The time by which the server dates what it sends, ms since the epoch. A device's own clock may be off by years. */
export const serverNow = (): number => Date.now() + correction().aheadMs;

/** Below this both clocks show the same time: the header has whole seconds, and answers take their time. */
const TOLERANCE_MS = MINUTE_MS;
/** An answer that took longer was perhaps slept through. */
const LONGEST_CALL_MS = 10 * SECOND_MS;

/** An answer that a cache kept is dated when it was made. */
const isKept = (headers: Record<string, unknown>): boolean =>
  Number(headers.age ?? 0) > 0 || /max-age=[1-9]|immutable/.test(String(headers['cache-control']));

/** Compares the device's clock with the `Date` of an answer to a call made at `askedAt`. Names of headers are in lower case. */
export function noteServerTime(headers: Record<string, unknown>, askedAt: number): void {
  const served = instantOf(String(headers.date));
  const took = Date.now() - askedAt;
  if (Number.isNaN(served) || took < 0 || took > LONGEST_CALL_MS || isKept(headers)) return;
  const measured = served - askedAt - took / 2;
  const aheadMs = Math.abs(measured) < TOLERANCE_MS ? 0 : measured;
  const clock = correction();
  if (Math.abs(aheadMs - clock.aheadMs) < TOLERANCE_MS && (aheadMs === 0) === (clock.aheadMs === 0)) return;
  clock.aheadMs = aheadMs;
  window.dispatchEvent(new Event(CLOCK_CORRECTED));
}
