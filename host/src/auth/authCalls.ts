import { request, type UserDto, unwrap } from '@liaozhai/shared/runtime';

interface Credentials {
  login: string;
  password: string;
}

interface Registration {
  user: UserDto;
  /** `email`: the address must be confirmed before the account can be used. */
  type: string;
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** The user of an answer: bare, under `user`, or either of them wrapped in `data`. Throws if there is none. */
function userOf(answer: unknown): UserDto {
  const body = unwrap(answer);
  const user = unwrap(record(body).user ?? body);
  if (record(user).id == null) throw new TypeError('the answer holds no user');
  return user as UserDto;
}

export async function register(form: Credentials & { name: string }, inviteCode: string | null): Promise<Registration> {
  const body = inviteCode ? { ...form, invite_code: inviteCode } : form;
  const answer = await request<unknown>({ method: 'POST', url: '/v1/register', body });
  const type = record(answer).type ?? record(unwrap(answer)).type;
  return { user: userOf(answer), type: String(type ?? '') };
}

export const login = async (form: Credentials): Promise<UserDto> =>
  userOf(await request<unknown>({ method: 'POST', url: '/v1/login', body: form }));

export const resendConfirmation = () =>
  request<unknown>({ method: 'POST', url: '/v1/email/verification-notification/resend' });
