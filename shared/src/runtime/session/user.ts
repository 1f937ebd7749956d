import { fallback, type InferOutput, nullish, number, object, parse, pipe, string, transform, union } from 'valibot';
import type { GiftDto, MinorStatusDto, UserDto, userPatchSchema } from '../../contract';

export interface User {
  id: string;
  name: string;
  username: string;
  avatar: string;
  /** points; undefined while the server has not told them in a form that can be read */
  balance: number | undefined;
  inviteCode: string;
  persona: string;
  gender: string;
  /** ISO, '' where the date is unknown; null while the address is not confirmed */
  emailVerifiedAt: string | null;
  checkedInToday: boolean | undefined;
  /** days in a row */
  checkInStreak: number | undefined;
  /** points to be announced, as the server tells them */
  gifts: readonly GiftDto[];
  /** ISO, '' where the date is unknown; when the account is erased, unless that is taken back */
  deletionAt: string | null;
  /** answers of support that were not looked at */
  unreadAnswers: number;
  /** conversations with a reply that was seen on no device */
  unreadConversations: number;
  /** 未成年人模式; null while it is off */
  minor: MinorStatusDto | null;
  version: number | undefined;
  /** false while only what this device kept is known: the server is being asked for the rest */
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

/** What may come as part of a user; null says something where it is what ends. */
export type UserPatch = InferOutput<typeof userPatchSchema>;

const endable = ['deletion_at', 'email_verified_at', 'minor'];

/** The user with the fields that `patch` names. */
export function patchedUser(user: User, patch: UserPatch): User {
  const changes = Object.entries(patch).filter(
    ([field, value]) => value !== undefined && (value !== null || endable.includes(field)),
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

/** What localStorage holds of the user, under names and in a shape that the specification fixes. */
export const toStored = ({ id, name, username, avatar, balance, inviteCode, persona }: User) => ({
  id,
  name,
  username,
  avatar,
  balance: balance ?? 0,
  invite_code: inviteCode,
  persona,
});

const text = fallback(string(), '');
const id = fallback(
  nullish(
    pipe(
      union([string(), number()]),
      transform((value) => (value === '' ? null : String(value))),
    ),
  ),
  null,
);
const stored = fallback(
  object({
    id,
    name: text,
    username: text,
    avatar: text,
    balance: fallback(number(), 0),
    invite_code: text,
    persona: text,
  }),
  { id: null, name: '', username: '', avatar: '', balance: 0, invite_code: '', persona: '' },
);

/** The stored user; null for an empty, unknown or broken record. */
export function readStored(json: unknown): User | null {
  const { id: storedId, ...rest } = parse(stored, json);
  return storedId == null ? null : toUser({ ...rest, id: storedId }, false);
}
