import { type ApiError, endpoints, signedInSchema, type UserDto } from '@liaozhai/shared/contract';
import { toastText } from '@liaozhai/shared/format';
import { copyText, request, session, toApiError, toast, uncopiedCredentials } from '@liaozhai/shared/runtime';
import { useEffect, useRef, useState } from 'react';
import type { AuthForm } from './AuthPopup';
import { texts } from './texts';
import { forgetInviteCode, readInviteCode, rememberPendingConfirmation } from './visitMemory';

interface After {
  onConfirmationNeeded: () => void;
  /** Signed in and the credentials are kept. */
  onDone: () => void;
}

/** Registers once, then sees to it that the credentials are kept: on the clipboard, else by the visitor's hand. */
export function useRegistration({ name, login, password }: AuthForm, { onConfirmationNeeded, onDone }: After) {
  const { submit, busy, errors, clearError } = useSubmission(texts.register.failed);
  const [uncopied, setUncopied] = useState<string | null>(null);
  const [inviteCode] = useState(readInviteCode);
  const [register] = useState(createRegistrar);

  const credentials = texts.credentials.text(login, password);

  /** Called within the tap, where alone the clipboard may be asked; nothing is copied unless the visitor is signed in. */
  const signUp = async () => {
    const registering = register({ login, password, name }, inviteCode);
    const copying = copyText(
      registering.then((user) => {
        if (!user) throw new Error('the address is to be confirmed first');
        return credentials;
      }),
    );
    return { user: await registering, copying };
  };

  const keepCredentials = async (copying: Promise<boolean>) => {
    if (!(await copying)) {
      uncopiedCredentials.keep(credentials);
      return setUncopied(credentials);
    }
    toast(texts.credentials.copied, { kind: 'success' });
    onDone();
  };

  return {
    busy,
    errors,
    clearError,
    inviteCode,
    uncopied,
    onSubmit: () =>
      submit(signUp, {
        done({ user, copying }) {
          forgetInviteCode();
          if (!user) {
            rememberPendingConfirmation();
            return onConfirmationNeeded();
          }
          session.userReceived(user);
          return keepCredentials(copying);
        },
      }),
    onCopied() {
      uncopiedCredentials.forget();
      setUncopied(null);
      onDone();
    },
  };
}

/** Logs in once; an account whose address is not confirmed yet is refused with 403. */
export function useLogin({ login, password }: AuthForm, { onConfirmationNeeded, onDone }: After) {
  const { submit, busy, errors, clearError } = useSubmission(texts.login.failed);
  return {
    busy,
    errors,
    clearError,
    onSubmit: () =>
      submit(() => postLogin({ login, password }), {
        done(user) {
          session.userReceived(user);
          toast(texts.login.done, { kind: 'success' });
          onDone();
        },
        failed: (error) => error.kind === 'forbidden' && onConfirmationNeeded(),
      }),
  };
}

type FieldErrors = Record<string, string[]>;

interface Submission {
  busy: boolean;
  /** What the server found wrong, by field name. */
  errors: FieldErrors;
  clearError: (field: string) => void;
  /** Runs the call once at a time; a failure is toasted, shown at its fields, and handed on. */
  submit: <Answer>(
    call: () => Promise<Answer>,
    after: { done: (answer: Answer) => unknown; failed?: (error: ApiError) => void },
  ) => Promise<void>;
}

/** Null for what was no failed request: an answer that cannot be read. */
function errorOf(cause: unknown): ApiError | null {
  try {
    return toApiError(cause);
  } catch (strange) {
    console.error(strange);
    return null;
  }
}

/** The token of the form could not be kept: the server takes the page for an expired one, again and again. */
const lacksCookies = (error: ApiError) => error.kind === 'server' && error.status === 419 && !navigator.cookieEnabled;

/** One form's way to the server. `failedText` is said when the server gives no words of its own. */
export function useSubmission(failedText: string): Submission {
  const underWay = useRef(false);
  const [busy, setBusy] = useState(false);
  const [errors, setErrors] = useState<FieldErrors>({});

  const fail = (cause: unknown, failed?: (error: ApiError) => void) => {
    const error = errorOf(cause);
    const text = error ? toastText(error, failedText) : failedText;
    toast(error && lacksCookies(error) ? texts.noCookies : text, { kind: 'error' });
    if (!error) return;
    if (error.kind === 'invalid') setErrors(error.fields);
    failed?.(error);
  };

  return {
    busy,
    errors,
    clearError: (field) => setErrors(({ [field]: _, ...rest }) => rest),
    async submit(call, { done, failed }) {
      // a second press may come before the button shows as busy
      if (underWay.current) return;
      underWay.current = true;
      setBusy(true);
      setErrors({});
      try {
        const outcome = await call().then(
          (answer) => ({ answer }),
          (cause: unknown) => ({ cause }),
        );
        if ('answer' in outcome) await done(outcome.answer);
        else fail(outcome.cause, failed);
      } finally {
        underWay.current = false;
        setBusy(false);
      }
    },
  };
}

const secondMs = 1000;

/** Seconds left of a wait, and the way to start one. Goes by the clock, since timers sleep in the background. */
export function useCountdown(): [secondsLeft: number, start: (seconds: number) => void] {
  const [endsAt, setEndsAt] = useState(0);
  const [now, setNow] = useState(0);
  const running = endsAt > now;
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), secondMs);
    return () => clearInterval(timer);
  }, [running]);
  const start = (seconds: number) => {
    setNow(Date.now());
    setEndsAt(Date.now() + seconds * secondMs);
  };
  return [running ? Math.ceil((endsAt - now) / secondMs) : 0, start];
}

const mayHaveBeenDone = ({ kind }: ApiError) => kind === 'offline' || kind === 'timeout' || kind === 'server';

/** Signs in to an account that this form may have made; otherwise the refusal stands. */
async function signInInstead(credentials: Credentials, refusal: unknown): Promise<UserDto | null> {
  try {
    return await postLogin(credentials);
  } catch (cause) {
    const error = toApiError(cause);
    if (error.kind === 'forbidden') return null;
    throw mayHaveBeenDone(error) ? cause : refusal;
  }
}

/**
 * `postRegistration` for one form. An account whose making was never answered exists perhaps: where its name is then
 * refused as taken, the visitor is signed in to it.
 */
function createRegistrar(): typeof postRegistration {
  let unanswered: Credentials | null = null;
  return async (form: Registration, inviteCode) => {
    const { login: name, password } = form;
    try {
      return await postRegistration(form, inviteCode);
    } catch (cause) {
      const error = toApiError(cause);
      const isAgain = unanswered?.login === name && unanswered.password === password;
      if (mayHaveBeenDone(error)) unanswered = { login: name, password };
      if (!isAgain || error.kind !== 'invalid' || !error.fields.login) throw cause;
      return signInInstead({ login: name, password }, cause);
    }
  };
}

interface Credentials {
  login: string;
  password: string;
}

type Registration = Credentials & { name: string };

/** The type of an account whose address must be confirmed before it can be used. */
const needsConfirmation = 'email';

/** Null for an account whose address must be confirmed first. */
async function postRegistration(form: Registration, inviteCode: string | null): Promise<UserDto | null> {
  const body = inviteCode ? { ...form, invite_code: inviteCode } : form;
  const { user, type } = await request({ method: 'POST', url: endpoints.register, body, schema: signedInSchema });
  return type === needsConfirmation ? null : user;
}

const postLogin = async (form: Credentials): Promise<UserDto> =>
  (await request({ method: 'POST', url: endpoints.login, body: form, schema: signedInSchema })).user;

export const resendConfirmation = () => request({ method: 'POST', url: endpoints.resendVerification });
