import type { CheckInDto } from '@liaozhai/shared/contract';
import { DAY_MS, parseUrl } from '@liaozhai/shared/format';

/** Maximum length of a persona, in code points. */
export const PERSONA_CHARACTERS = 1000;

export type Gender = 'male' | 'female';

export const toCheckIn = (dto: CheckInDto) => ({
  /** Shanghai day, `2026-11-21`; undefined if the server does not send it. */
  date: dto.date ?? undefined,
  /** Days in a row, including today. */
  streak: dto.streak ?? undefined,
  /** Points; 0 if the day had been checked in before. */
  awarded: dto.already_checked_in ? 0 : typeof dto.awarded === 'number' && dto.awarded >= 0 ? dto.awarded : undefined,
  /** Points after the award. */
  balance: dto.balance ?? undefined,
});

export type CheckIn = ReturnType<typeof toCheckIn>;

/** The fields of a user that they can edit. */
export interface Profile {
  name: string;
  avatar: string;
  gender: Gender | '';
  persona: string;
}

export type ProfileEdits = Partial<Profile>;

type ProfileSource = { name?: string; avatar?: string | null; gender?: string | null; persona?: string | null };

export const toProfile = (user: ProfileSource): Profile => ({
  name: user.name ?? '',
  avatar: user.avatar ?? '',
  gender: user.gender === 'male' || user.gender === 'female' ? user.gender : '',
  persona: user.persona ?? '',
});

/** Parses stored edits; unknown fields are omitted. */
export function toProfileEdits(json: string): ProfileEdits {
  const edits = parseRecord(json);
  const textFields = (['name', 'avatar', 'persona'] as const).filter((field) => typeof edits[field] === 'string');
  const isGender = edits.gender === 'male' || edits.gender === 'female';
  return Object.fromEntries([...textFields, ...(isGender ? ['gender'] : [])].map((field) => [field, edits[field]]));
}

/** Returns the edits that differ from the saved profile. */
export function unsavedEdits(saved: Profile, edits: ProfileEdits): ProfileEdits {
  const unsaved = Object.entries(edits).filter(([field, value]) => saved[field as keyof Profile] !== value);
  return Object.fromEntries(unsaved) as ProfileEdits;
}

// `//host/x` and `/\host/x` begin like a path but lead to another origin
const isOnThisOrigin = (url: unknown): url is string =>
  typeof url === 'string' && /^(\/|https?:)/.test(url) && parseUrl(url, location.origin)?.origin === location.origin;

/** Parses addresses of pictures: a list, bare or in `data`. Omits repeated ones, and those that are not on this origin. */
export function toAvatars(body: unknown): string[] {
  const { data = body } = toRecord(body);
  return [...new Set(Object.values(toRecord(data)).filter(isOnThisOrigin))];
}

/** The available pictures, including the current one. */
export const avatarChoices = (offered: readonly string[], current: string): string[] =>
  current === '' || offered.includes(current) ? [...offered] : [current, ...offered];

/** A change of 未成年人模式; `use` only reports that the app is in use. */
export type MinorChange =
  | { kind: 'on' | 'off' | 'extend'; pin: string }
  | { kind: 'reset'; password: string }
  | { kind: 'use' };

/** Formats as `12:05`. */
export const countdown = (seconds: number): string =>
  `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;

/** Address of an invitation for a friend. */
export const inviteLink = (origin: string, code: string): string => `${origin}/?invite=${encodeURIComponent(code)}`;

export interface Streak {
  /** Shanghai day. */
  today: string;
  isCheckedInToday: boolean;
  /** Days in a row, ending today or, if today is not checked in yet, yesterday. */
  length: number;
  /** Points for the first, second … day in a row; the last one repeats. Undefined where unknown. */
  rewards: readonly (number | undefined)[];
}

/** Points for the given day in a row (1-based); undefined if the rules do not specify them. */
const rewardOf = (rewards: Streak['rewards'], dayInRow: number): number | undefined =>
  rewards[Math.min(dayInRow, rewards.length) - 1];

/** Points for the next check-in. */
export const nextReward = ({ rewards, length }: Streak): number | undefined => rewardOf(rewards, length + 1);

/** A day, counted from today. */
function calendarDay(daysAhead: number, { today, isCheckedInToday, length, rewards }: Streak) {
  const date = new Date(Date.parse(today) + daysAhead * DAY_MS);
  const daysUnchecked = isCheckedInToday ? daysAhead : daysAhead + 1;
  return {
    /** `2026-11-21` */
    key: date.toISOString().slice(0, 10),
    dayOfMonth: date.getUTCDate(),
    /** 0 is Monday. */
    weekday: (date.getUTCDay() + 6) % 7,
    isToday: daysAhead === 0,
    /** Whether the day belongs to the current streak; earlier check-ins are unknown. */
    isCheckedIn: daysUnchecked <= 0 && daysUnchecked > -length,
    /** Points for this day if no day is missed; undefined for past days and if the rewards are unknown. */
    reward: daysUnchecked > 0 ? rewardOf(rewards, length + daysUnchecked) : undefined,
  };
}

export type CalendarDay = ReturnType<typeof calendarDay>;

/** The days of this week (Monday first) or of this month. */
export function calendarDays(streak: Streak, span: 'week' | 'month'): CalendarDay[] {
  const { weekday, dayOfMonth } = calendarDay(0, streak);
  const [year = 0, month = 1] = streak.today.split('-').map(Number);
  const [daysBefore, count] =
    span === 'week' ? [weekday, 7] : [dayOfMonth - 1, new Date(Date.UTC(year, month, 0)).getUTCDate()];
  return Array.from({ length: count }, (_, index) => calendarDay(index - daysBefore, streak));
}

const toRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Parses a stored object; empty if missing or invalid. */
export function parseRecord(json: string): Record<string, unknown> {
  try {
    return toRecord(JSON.parse(json));
  } catch {
    return {};
  }
}
