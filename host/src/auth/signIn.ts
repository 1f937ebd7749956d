import {
  type ApiError,
  CONSENT_VERSION,
  endpoints,
  readAs,
  signedInSchema,
  singleSchema,
  type UserDto,
  userSchema,
} from '@liaozhai/shared/contract';
import { missingText, passwordProblem } from '@liaozhai/shared/format';
import {
  capabilities,
  copyText,
  hostConfig,
  request,
  session,
  toApiError,
  toast,
  uncopiedCredentials,
} from '@liaozhai/shared/runtime';
import type { FieldErrors } from '@liaozhai/shared/ui';
import { useState } from 'react';
import type { AuthForm } from './authFormState';
import { saveGender } from './nickname';
import { useSubmission } from './submission';
import { texts } from './texts';
import { forgetInviteCode, pendingConfirmation, readInviteCode } from './visitMemory';

interface SignInCallbacks {
  onConfirmationNeeded: () => void;
  /** Called once signed in and, after a registration, once the credentials are copied. */
  onDone: () => void;
}

/** Registers, then copies the credentials to the clipboard, or asks the visitor to copy them by hand. */
export function useRegistration(form: AuthForm, { onConfirmationNeeded, onDone }: SignInCallbacks) {
  const { gender, name, login, password } = form;
  const { submit, ...submission } = useSubmission(texts.register.failed);
  const [uncopiedText, setUncopiedText] = useState<string | null>(null);
  const [inviteCode] = useState(readInviteCode);
  const [register] = useState(() =>
    resolvingLostAnswers(
      (account: Registration) => postRegistration(account, inviteCode),
      (error) => error.kind === 'invalid' && Boolean(error.fields.login),
      signInInstead,
    ),
  );

  const credentials = texts.credentials.text(login, password);

  /**
   * Must run within the tap: browsers allow clipboard access only during a user gesture. Copies nothing unless the visitor is
   * signed in.
   */
  const signUp = async () => {
    const registration = register({ login, password, name });
    const copyResult = copyText(
      registration.then(({ isPending }) => {
        if (isPending) throw new Error('the address is to be confirmed first');
        return credentials;
      }),
    );
    return { account: await registration, copyResult };
  };

  const handleCopyResult = async (copyResult: Promise<boolean>) => {
    // the page may end before the clipboard answers
    uncopiedCredentials.keep(credentials);
    if (!(await copyResult)) return setUncopiedText(credentials);
    uncopiedCredentials.forget();
    toast(texts.credentials.copied, { kind: 'success' });
    onDone();
  };

  return {
    ...submission,
    inviteCode,
    uncopiedText,
    onSubmit: () =>
      submit(signUp, {
        problems: registrationProblems(form),
        onSuccess({ account, copyResult }) {
          forgetInviteCode();
          if (account.isPending) {
            pendingConfirmation.store({ userId: account.userId, gender, mailedAt: Date.now() });
            return onConfirmationNeeded();
          }
          session.signedIn(account.user);
          void saveGender(gender);
          return handleCopyResult(copyResult);
        },
      }),
    onCopied() {
      uncopiedCredentials.forget();
      setUncopiedText(null);
      onDone();
    },
  };
}

/** Logs in. An account whose address is not confirmed yet is refused with 403. */
export function useLogin(form: AuthForm, { onConfirmationNeeded, onDone }: SignInCallbacks) {
  const { login, password } = form;
  const { submit, ...submission } = useSubmission(texts.login.failed);
  return {
    ...submission,
    onSubmit: () =>
      submit(() => postLogin({ login, password }), {
        problems: missingFields(form, ['login', 'password']),
        onSuccess(user) {
          welcome(user, texts.login.done);
          onDone();
        },
        onFailure: (error) => error.kind === 'forbidden' && onConfirmationNeeded(),
      }),
  };
}

/** Signs the user in, says so, and shows when the account will be deleted, if it will. */
export function welcome(user: UserDto, text: string) {
  session.signedIn(user);
  toast(text, { kind: 'success' });
  const { deletion_at: at } = user;
  if (typeof at !== 'string') return;
  // a separate chunk, since few users need it; if it cannot be loaded, 我的 still shows the date
  import(/* webpackChunkName: "deletionNotice" */ './deletionNotice').then(
    ({ showDeletionNotice }) => showDeletionNotice(at),
    () => undefined,
  );
}

/** Returns an error text for each named field that is empty. */
function missingFields(form: AuthForm, names: readonly ('name' | 'login' | 'password')[]): FieldErrors {
  const empty = names.filter((name) => form[name].trim() === '');
  return Object.fromEntries(empty.map((name) => [name, missingText(texts.fields[name])]));
}

/** Problems that prevent the request; the server validates the rest. */
const registrationProblems = (form: AuthForm): FieldErrors => ({
  password: passwordProblem(form.password),
  ...missingFields(form, ['name', 'login', 'password']),
});

const mayHaveSucceeded = ({ kind }: ApiError) => kind === 'offline' || kind === 'timeout' || kind === 'server';

/** Signs in to an account that this form may have created or changed. Throws the form's refusal if the login is refused, too. */
export async function signInInstead({ login, password }: Credentials, refusal: unknown): Promise<Account> {
  try {
    return { user: await postLogin({ login, password }), isPending: false };
  } catch (cause) {
    const error = toApiError(cause);
    if (error.kind === 'forbidden') return { isPending: true };
    throw mayHaveSucceeded(error) ? cause : refusal;
  }
}

/**
 * Wraps the request of one form. An attempt that got no answer may have succeeded: if the same credentials are then refused as
 * `isRefusedAsDone` says, `resolve` decides instead.
 */
export function resolvingLostAnswers<Form extends Credentials, Answer>(
  send: (form: Form) => Promise<Answer>,
  isRefusedAsDone: (error: ApiError) => boolean,
  resolve: (form: Form, refusal: unknown) => Promise<Answer>,
): (form: Form) => Promise<Answer> {
  let unansweredCredentials: Credentials | null = null;
  return async (form) => {
    const { login, password } = form;
    const isRepeated = unansweredCredentials?.login === login && unansweredCredentials.password === password;
    try {
      return await send(form);
    } catch (cause) {
      const error = toApiError(cause);
      if (mayHaveSucceeded(error)) unansweredCredentials = { login, password };
      if (!isRepeated || !isRefusedAsDone(error)) throw cause;
      return resolve(form, cause);
    }
  };
}

export interface Credentials {
  login: string;
  password: string;
}

type Registration = Credentials & { name: string };

/** The type of an account whose address must be confirmed before it can be used. */
const UNCONFIRMED_TYPE = 'email';

/** A pending account can be used once its address is confirmed. */
type Account = { isPending: false; user: UserDto } | { isPending: true; userId?: string };

/**
 * Its response ends the session of another user who signs in during the call in a second tab, and counts all the same. Some servers
 * send no user, like Laravel's Breeze and Fortify.
 */
async function postForm(url: string, body: object): Promise<{ user: UserDto; type?: string | null }> {
  const response = await request({ url, method: 'POST', body, isOptional: true });
  return (
    readAs(signedInSchema, response) ?? {
      user: await request({ url: endpoints.user, schema: singleSchema(userSchema), isOptional: true }),
    }
  );
}

async function postRegistration(form: Registration, inviteCode: string | null): Promise<Account> {
  const body = {
    ...form,
    ...(inviteCode && { invite_code: inviteCode }),
    ...(capabilities.has('account.consent') && { consent_version: hostConfig().legal.version ?? CONSENT_VERSION }),
  };
  const { user, type } = await postForm(endpoints.register, body);
  return type === UNCONFIRMED_TYPE ? { isPending: true, userId: String(user.id) } : { isPending: false, user };
}

export const postLogin = async (form: Credentials): Promise<UserDto> => (await postForm(endpoints.login, form)).user;
