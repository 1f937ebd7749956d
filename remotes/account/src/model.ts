import type { CheckInDto, PasswordChangeDto } from '@liaozhai/shared/contract';
import { parseUrl } from '@liaozhai/shared/format';

/** The most code points a persona may have. */
export const PERSONA_CHARACTERS = 1000;

export type Gender = 'male' | 'female';

export interface CheckIn {
  /** Shanghai day, `2026-11-21` */
  date: string;
  /** days in a row, today included */
  streak: number;
  /** points; 0 when this day was checked in before */
  awarded: number;
  /** points after the award */
  balance: number;
}

export const toCheckIn = (dto: CheckInDto): CheckIn => ({
  date: dto.date,
  streak: dto.streak,
  awarded: dto.already_checked_in ? 0 : dto.awarded,
  balance: dto.balance,
});

/** What a person may change about themselves. */
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

/** The edits that still say something else than the saved profile. */
export function unsavedEdits(saved: Profile, edits: ProfileEdits): ProfileEdits {
  const unsaved = Object.entries(edits).filter(([field, value]) => saved[field as keyof Profile] !== value);
  return Object.fromEntries(unsaved) as ProfileEdits;
}

// `//host/x` and `/\host/x` begin like a path and lead elsewhere
const isOnThisOrigin = (url: unknown): url is string =>
  typeof url === 'string' && url.startsWith('/') && parseUrl(url, location.origin)?.origin === location.origin;

/** Addresses of pictures to choose from: a list, bare or in `data`; what is no address on this origin is left out. */
export function toAvatars(body: unknown): string[] {
  const list = Array.isArray(body) ? body : (body as { data?: unknown } | null)?.data;
  return Array.isArray(list) ? list.filter(isOnThisOrigin) : [];
}

/** The pictures on offer, the present one among them. */
export const avatarChoices = (offered: readonly string[], present: string): string[] =>
  present === '' || offered.includes(present) ? [...offered] : [present, ...offered];

export interface PasswordChange {
  currentPassword: string;
  newPassword: string;
  confirmation: string;
}

export const toPasswordChangeDto = (change: PasswordChange): PasswordChangeDto => ({
  current_password: change.currentPassword,
  password: change.newPassword,
  password_confirmation: change.confirmation,
});

/** Where a friend lands who follows an invitation. */
export const inviteLink = (origin: string, code: string): string => `${origin}/?invite=${encodeURIComponent(code)}`;
