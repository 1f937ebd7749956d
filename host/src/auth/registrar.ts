import type { ApiError, UserDto } from '@liaozhai/shared/contract';
import { toApiError } from '@liaozhai/shared/runtime';
import { type Credentials, login, type Registration, register } from './authCalls';

const mayHaveBeenDone = ({ kind }: ApiError) => kind === 'offline' || kind === 'timeout' || kind === 'server';

/** Signs in to an account that this form may have made; otherwise the refusal stands. */
async function signInInstead(credentials: Credentials, refusal: unknown): Promise<UserDto | null> {
  try {
    return await login(credentials);
  } catch (cause) {
    const error = toApiError(cause);
    if (error.kind === 'forbidden') return null;
    throw mayHaveBeenDone(error) ? cause : refusal;
  }
}

/**
 * `register` for one form. An account whose making was never answered exists perhaps: where its name is then
 * refused as taken, the visitor is signed in to it.
 */
export function createRegistrar(): typeof register {
  let unanswered: Credentials | null = null;
  return async (form: Registration, inviteCode) => {
    const { login: name, password } = form;
    try {
      return await register(form, inviteCode);
    } catch (cause) {
      const error = toApiError(cause);
      const isAgain = unanswered?.login === name && unanswered.password === password;
      if (mayHaveBeenDone(error)) unanswered = { login: name, password };
      if (!isAgain || error.kind !== 'invalid' || !error.fields.login) throw cause;
      return signInInstead({ login: name, password }, cause);
    }
  };
}
