import { endpoints, signedInSchema, type UserDto } from '@liaozhai/shared/contract';
import { request } from '@liaozhai/shared/runtime';

export interface Credentials {
  login: string;
  password: string;
}

export type Registration = Credentials & { name: string };

/** The type of an account whose address must be confirmed before it can be used. */
const needsConfirmation = 'email';

/** Null for an account whose address must be confirmed first. */
export async function register(form: Registration, inviteCode: string | null): Promise<UserDto | null> {
  const body = inviteCode ? { ...form, invite_code: inviteCode } : form;
  const { user, type } = await request({ method: 'POST', url: endpoints.register, body, schema: signedInSchema });
  return type === needsConfirmation ? null : user;
}

export const login = async (form: Credentials): Promise<UserDto> =>
  (await request({ method: 'POST', url: endpoints.login, body: form, schema: signedInSchema })).user;

export const resendConfirmation = () => request({ method: 'POST', url: endpoints.resendVerification });
