import { request, type UserDto } from '@liaozhai/shared/runtime';

interface Credentials {
  login: string;
  password: string;
}

interface Registration {
  user: UserDto;
  /** `email`: the address must be confirmed before the account can be used. */
  type: string;
}

/** An answer bare or wrapped in `data`, as Laravel's resources come. */
const bare = <Body extends object>(body: Body | { data: Body }): Body => ('data' in body ? body.data : body);

export async function register(form: Credentials & { name: string }, inviteCode: string | null): Promise<Registration> {
  const body = inviteCode ? { ...form, invite_code: inviteCode } : form;
  return bare(await request<Registration | { data: Registration }>({ method: 'POST', url: '/v1/register', body }));
}

export async function login(form: Credentials): Promise<UserDto> {
  type Answer = { user: UserDto };
  const answer = await request<Answer | { data: Answer }>({ method: 'POST', url: '/v1/login', body: form });
  return bare(answer).user;
}

export const resendConfirmation = () =>
  request<unknown>({ method: 'POST', url: '/v1/email/verification-notification/resend' });
