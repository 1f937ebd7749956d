import { request, type UserDto, unwrap } from '@liaozhai/shared/runtime';

export interface Credentials {
  login: string;
  password: string;
}

export type Registration = Credentials & { name: string };

/** The type of an account whose address must be confirmed before it can be used. */
const needsConfirmation = 'email';

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** The user of an answer: bare, under `user`, or either of them wrapped in `data`. Throws if there is none. */
function userOf(answer: unknown): UserDto {
  const body = unwrap(answer);
  const user = unwrap(record(body).user ?? body);
  if (record(user).id == null) throw new TypeError('the answer holds no user');
  return user as UserDto;
}

/** Null for an account whose address must be confirmed first. */
export async function register(form: Registration, inviteCode: string | null): Promise<UserDto | null> {
  const body = inviteCode ? { ...form, invite_code: inviteCode } : form;
  const answer = await request<unknown>({ method: 'POST', url: '/v1/register', body });
  const user = userOf(answer);
  const type = record(answer).type ?? record(unwrap(answer)).type;
  return type === needsConfirmation ? null : user;
}

export const login = async (form: Credentials): Promise<UserDto> =>
  userOf(await request<unknown>({ method: 'POST', url: '/v1/login', body: form }));

export const resendConfirmation = () =>
  request<unknown>({ method: 'POST', url: '/v1/email/verification-notification/resend' });
