import { DAY_MS, HOUR_MS, isoTimeOrNull, MINUTE_MS, shanghaiDate } from '../clock.ts';
import type { UserRow } from '../db/schema.ts';
import { HttpError } from '../http/http.ts';
import { rules } from '../rules.ts';

/** Stored state of 未成年人模式 while it is on; times in ms since 1970. */
export interface MinorState {
  pinHash: string;
  /** day in Shanghai that `usedMs` belongs to */
  day: string;
  usedMs: number;
  /** when use was last seen */
  seenAt: number;
  /** end of the guardian's extension */
  extendedUntil: number;
  wrongPins: number;
  /** PINs are refused until then */
  pausedUntil: number;
  /** time from which the account's password ends the mode; null unless a reset was requested */
  resetAt: number | null;
}

const { from, to, minutesADay, extensionMinutes, idleSeconds } = rules.minorMode;

/** Shanghai has no daylight saving time. */
const startOfDay = (now: number): number => now - ((now + 8 * HOUR_MS) % DAY_MS);

export const readMinor = ({ minor }: Pick<UserRow, 'minor'>): MinorState | null => (minor ? JSON.parse(minor) : null);

export const newMinor = (pinHash: string, now: number): MinorState => ({
  pinHash,
  day: shanghaiDate(now),
  usedMs: 0,
  seenAt: now,
  extendedUntil: 0,
  wrongPins: 0,
  pausedUntil: 0,
  resetAt: null,
});

/** Returns the state with the use until `now`. A gap longer than `idleSeconds` does not count. */
export function addUse(state: MinorState, now: number): MinorState {
  const day = shanghaiDate(now);
  const usedBeforeMs = day === state.day ? state.usedMs : 0;
  const gapMs = Math.min(now - state.seenAt, now - startOfDay(now));
  const isInUse = now - state.seenAt <= idleSeconds * 1000;
  return { ...state, day, usedMs: usedBeforeMs + (isInUse ? Math.max(0, gapMs) : 0), seenAt: now };
}

/** Returns why use is blocked, the time left, and when it is allowed again. */
function allowance({ day, usedMs, extendedUntil }: MinorState, now: number) {
  const opensAt = startOfDay(now) + to * HOUR_MS;
  const closesAt = startOfDay(now) + from * HOUR_MS;
  const isNight = now < opensAt || now >= closesAt;
  const remainingTodayMs = Math.max(0, minutesADay * MINUTE_MS - (day === shanghaiDate(now) ? usedMs : 0));
  const remainingMs = Math.max(extendedUntil - now, isNight ? 0 : Math.min(remainingTodayMs, closesAt - now), 0);
  if (remainingMs > 0) return { blocked: null, leftMs: remainingMs, resumesAt: null };
  return {
    blocked: isNight ? 'night' : 'limit',
    leftMs: remainingMs,
    resumesAt: now < opensAt ? opensAt : opensAt + DAY_MS,
  } as const;
}

const formatHour = (value: number) => `${String(value).padStart(2, '0')}:00`;

/** The mode's rules in the shape of the API. */
export const minorRules = {
  from: formatHour(from),
  to: formatHour(to),
  minutes_a_day: minutesADay,
  extension_minutes: extensionMinutes,
};

/** Returns the mode in the shape of the API; null while it is off. */
export function presentMinor(row: Pick<UserRow, 'minor'>, now: number) {
  const state = readMinor(row);
  if (!state) return null;
  const { blocked, leftMs, resumesAt } = allowance(state, now);
  return {
    blocked,
    seconds_left: Math.ceil(leftMs / 1000),
    resumes_at: isoTimeOrNull(resumesAt),
    reset_at: isoTimeOrNull(state.resetAt),
    rules: minorRules,
  };
}

const refusal = (message: string, reason: string) =>
  new HttpError(403, { message: `未成年人模式：${message}`, code: 'minor_mode', reason });

/** Throws 403 `minor_mode` outside the allowed hours and minutes. */
export function assertMayUse(row: Pick<UserRow, 'minor'>, now: number): void {
  const state = readMinor(row);
  const blocked = state && allowance(state, now).blocked;
  if (blocked === 'night') throw refusal(`${formatHour(from)} 到次日 ${formatHour(to)} 不能使用`, blocked);
  if (blocked === 'limit') throw refusal(`今天的 ${minutesADay} 分钟已经用完`, blocked);
}

/** Throws 403 `minor_mode` while the mode is on. Call it before anything that costs money. */
export function assertMayPay(row: Pick<UserRow, 'minor'>): void {
  if (row.minor) throw refusal('不能充值', 'recharge');
}
