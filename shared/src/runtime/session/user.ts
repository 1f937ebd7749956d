import { fallback, type InferOutput, nullish, number, object, parse, pipe, string, transform, union } from 'valibot';
import type { GiftDto, MinorStatusDto, UserDto, userPatchSchema } from '../../contract';

export interface User {
  id: string;
  name: string;
  username: string;
  avatar: string;
  /** points; undefined until the server has sent a readable balance */
  balance: number | undefined;
  inviteCode: string;
  persona: string;
  gender: string;
  /** ISO date, '' if unknown; null until the address is confirmed */
  emailVerifiedAt: string | null;
  checkedInToday: boolean | undefined;
  /** days in a row */
  checkInStreak: number | undefined;
  /** gifts in points to announce, from the server */
  gifts: readonly GiftDto[];
  /** ISO date of the account's erasure, '' if unknown; null if no deletion is scheduled */
  deletionAt: string | null;
  /** unread answers of support */
  unreadAnswers: number;
  /** conversations with a reply that no device has shown */
  unreadConversations: number;
  /** 未成年人模式; null while it is off */
  minor: MinorStatusDto | null;
  version: number | undefined;
  /** false while only the stored fields are known and the server's response is pending */
  isWhole: boolean;
}

export const toUser = (dto: UserDto, isWhole = true): User => ({
  id: dto.id,
  name: dto.name ?? '',
  username: dto.username ?? '',
  avatar: dto.avatar ?? '',
  balance: dto.balance ?? undefined,
  inviteCode: dto.invite_code ?? '',
  persona: dto.persona ?? '',
  gender: dto.gender ?? '',
  emailVerifiedAt: dto.email_verified_at ?? null,
  checkedInToday: dto.checked_in_today ?? undefined,
  checkInStreak: dto.check_in_streak ?? undefined,
  gifts: dto.gifts ?? [],
  deletionAt: dto.deletion_at ?? null,
  unreadAnswers: dto.unread_answers ?? 0,
  unreadConversations: dto.unread_conversations ?? 0,
  minor: dto.minor ?? null,
  version: dto.version ?? undefined,
  isWhole,
});

/** Fields of a user in a response or event. Null clears only the fields in `clearableFields`. */
export type UserPatch = InferOutput<typeof userPatchSchema>;

const clearableFields = ['deletion_at', 'email_verified_at', 'minor'];

export function patchedUser(user: User, patch: UserPatch): User {
  const changes = Object.entries(patch).filter(
    ([field, value]) => value !== undefined && (value !== null || clearableFields.includes(field)),
  );
  return toUser({ ...toDto(user), ...Object.fromEntries(changes), id: user.id }, user.isWhole);
}

const toDto = (user: User): UserDto => ({
  ...toStored(user),
  balance: user.balance,
  gender: user.gender,
  email_verified_at: user.emailVerifiedAt,
  checked_in_today: user.checkedInToday,
  check_in_streak: user.checkInStreak,
  gifts: [...user.gifts],
  deletion_at: user.deletionAt,
  unread_answers: user.unreadAnswers,
  unread_conversations: user.unreadConversations,
  minor: user.minor,
  version: user.version,
});

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

const textSchema = fallback(string(), '');
const idSchema = fallback(
  nullish(
    pipe(
      union([string(), number()]),
      transform((value) => (value === '' ? null : String(value))),
    ),
  ),
  null,
);
const storedSchema = fallback(
  object({
    id: idSchema,
    name: textSchema,
    username: textSchema,
    avatar: textSchema,
    balance: fallback(number(), 0),
    invite_code: textSchema,
    persona: textSchema,
  }),
  { id: null, name: '', username: '', avatar: '', balance: 0, invite_code: '', persona: '' },
);

/** Returns the stored user; null for an empty, unknown or invalid record. */
export function readStored(json: unknown): User | null {
  const { id: storedId, ...rest } = parse(storedSchema, json);
  return storedId == null ? null : toUser({ ...rest, id: storedId }, false);
}
