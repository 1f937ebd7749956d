import type { InferOutput } from 'valibot';
import { readAs, toCamelCase, type UserDto, type userPatchSchema, userSchema } from '../../contract';

export type User = Readonly<ReturnType<typeof toUser>>;

export const toUser = (dto: UserDto, isWhole = true) => ({
  id: dto.id,
  name: dto.name ?? '',
  username: dto.username ?? '',
  avatar: dto.avatar ?? '',
  /** points; undefined until the server has sent a readable balance */
  balance: dto.balance ?? undefined,
  inviteCode: dto.invite_code ?? '',
  persona: dto.persona ?? '',
  gender: dto.gender ?? '',
  /** ISO date, '' if unknown; null until the address is confirmed */
  emailVerifiedAt: dto.email_verified_at ?? null,
  checkedInToday: dto.checked_in_today ?? undefined,
  /** days in a row */
  checkInStreak: dto.check_in_streak ?? undefined,
  /** gifts in points to announce, from the server */
  gifts: dto.gifts ?? [],
  /** ISO date of the account's erasure, '' if unknown; null if no deletion is scheduled */
  deletionAt: dto.deletion_at ?? null,
  /** unread answers of support */
  unreadAnswers: dto.unread_answers ?? 0,
  /** conversations with a reply that no device has shown */
  unreadConversations: dto.unread_conversations ?? 0,
  /** 未成年人模式; null while it is off */
  minor: dto.minor ?? null,
  version: dto.version ?? undefined,
  /** false while only the stored fields are known and the server's response is pending */
  isWhole,
});

/** Fields of a user in a response or event. Null clears only the fields in `clearableFields`. */
export type UserPatch = InferOutput<typeof userPatchSchema>;

const clearableFields = ['deletion_at', 'email_verified_at', 'minor'];

export function patchedUser(user: User, patch: UserPatch): User {
  const names = Object.entries(patch).flatMap(([field, value]) =>
    value !== undefined && (value !== null || clearableFields.includes(field)) ? toCamelCase(field) : [],
  );
  const patchedFields = Object.entries(toUser({ ...patch, id: user.id }, user.isWhole));
  return { ...user, ...Object.fromEntries(patchedFields.filter(([name]) => names.includes(name))) };
}

/** The user's record in `localStorage`; the specification fixes its names and shape. */
export const toStored = ({ id, name, username, avatar, balance, inviteCode, persona }: User) => ({
  id,
  name,
  username,
  avatar,
  balance: balance ?? 0,
  invite_code: inviteCode,
  persona,
});

/** Returns the stored user, read like an answer; null for an empty, unknown or invalid record. */
export function readStored(json: unknown): User | null {
  const dto = readAs(userSchema, json);
  if (!dto) return null;
  const { id, name, username, avatar, balance, invite_code, persona } = dto;
  return toUser({ id, name, username, avatar, balance: balance ?? 0, invite_code, persona }, false);
}
