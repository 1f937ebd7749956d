/** The user as the wire has it; every field may be missing in an answer that patches. */
export interface UserDto {
  id: string | number;
  name: string;
  username: string;
  avatar: string | null;
  gender: string | null;
  balance: number;
  invite_code: string;
  persona: string | null;
  email_verified_at: string | null;
  checked_in_today: boolean;
  check_in_streak: number;
  version: number;
}

export interface User {
  id: string;
  name: string;
  username: string;
  avatar: string;
  /** whole points */
  balance: number;
  inviteCode: string;
  persona: string;
  gender: string;
  emailVerifiedAt: string | null;
  checkedInToday: boolean | undefined;
  checkInStreak: number | undefined;
  version: number | undefined;
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');

/** Reads what an answer or an event says of the user; absent fields stay absent. */
export function toUserPatch(dto: Partial<UserDto>): Partial<User> {
  const patch: Partial<User> = {
    id: dto.id === undefined || dto.id === null ? undefined : String(dto.id),
    name: dto.name === undefined ? undefined : text(dto.name),
    username: dto.username === undefined ? undefined : text(dto.username),
    avatar: dto.avatar === undefined ? undefined : text(dto.avatar),
    balance: typeof dto.balance === 'number' ? dto.balance : undefined,
    inviteCode: dto.invite_code === undefined ? undefined : text(dto.invite_code),
    persona: dto.persona === undefined ? undefined : text(dto.persona),
    gender: dto.gender === undefined ? undefined : text(dto.gender),
    emailVerifiedAt: dto.email_verified_at,
    checkedInToday: dto.checked_in_today,
    checkInStreak: dto.check_in_streak,
    version: dto.version,
  };
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
}

export const emptyUser: User = {
  id: '',
  name: '',
  username: '',
  avatar: '',
  balance: 0,
  inviteCode: '',
  persona: '',
  gender: '',
  emailVerifiedAt: null,
  checkedInToday: undefined,
  checkInStreak: undefined,
  version: undefined,
};

/** The seven fields that the specification keeps in `user-store`, under its names. */
export const toStoredUser = ({ id, name, username, avatar, balance, inviteCode, persona }: User) => ({
  id,
  name,
  username,
  avatar,
  balance,
  invite_code: inviteCode,
  persona,
});
