import { toastText } from '@liaozhai/shared/format';
import { type ApiError, toApiError, toast } from '@liaozhai/shared/runtime';
import { useRef, useState } from 'react';
import { texts } from './texts';

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
      // a second press may come before the button is drawn as busy
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
