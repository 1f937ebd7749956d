import { MINUTE_MS, parseHttpDate, SECOND_MS } from './waits.ts';

const KEY = Symbol.for('liaozhai.clock');

interface Correction {
  /** Lead of the server's clock over the device's. */
  aheadMs: number;
}

/** Shared by the page's bundles, each of which has its own copy of this file. */
function correction(): Correction {
  const globals = globalThis as typeof globalThis & Record<symbol, Correction | undefined>;
  globals[KEY] ??= { aheadMs: 0 };
  return globals[KEY];
}

/** Dispatched on the window when `serverNow` jumps. */
export const CLOCK_CORRECTED = 'liaozhai:clock';

/** Current time of the server, ms since the epoch. The device's clock may be off by years. */
export const serverNow = (): number => Date.now() + correction().aheadMs;

/** Smaller differences count as none: the `Date` header has whole seconds, and responses take time. */
const TOLERANCE_MS = MINUTE_MS;
/** The device may have slept during a longer call. */
const MAX_CALL_MS = 10 * SECOND_MS;

/** A cached response has the date of its creation. */
const isCached = (headers: Record<string, unknown>): boolean =>
  Number(headers.age ?? 0) > 0 || /max-age=[1-9]|immutable/.test(String(headers['cache-control']));

/** Compares the device's clock with the `Date` of a response to a call made at `requestedAt`. Header names are in lower case. */
export function noteServerTime(headers: Record<string, unknown>, requestedAt: number): void {
  const servedAt = parseHttpDate(String(headers.date));
  const durationMs = Date.now() - requestedAt;
  if (Number.isNaN(servedAt) || durationMs < 0 || durationMs > MAX_CALL_MS || isCached(headers)) return;
  const measuredAheadMs = servedAt - requestedAt - durationMs / 2;
  const aheadMs = Math.abs(measuredAheadMs) < TOLERANCE_MS ? 0 : measuredAheadMs;
  const clock = correction();
  if (Math.abs(aheadMs - clock.aheadMs) < TOLERANCE_MS && (aheadMs === 0) === (clock.aheadMs === 0)) return;
  clock.aheadMs = aheadMs;
  window.dispatchEvent(new Event(CLOCK_CORRECTED));
}
