import type { ApiError } from '@liaozhai/shared/contract';
import { toastText } from '@liaozhai/shared/format';
import { session, toApiError, toast } from '@liaozhai/shared/runtime';
import { type FieldErrors, useFieldErrors } from '@liaozhai/shared/ui';
import { useRef, useState } from 'react';
import { texts } from './texts';

interface Outcome<Answer> {
  /** What keeps the form from being sent at all, by field name. */
  problems?: FieldErrors;
  done: (answer: Answer) => unknown;
  failed?: (error: ApiError) => void;
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
const lacksCookies = (error: ApiError) => error.kind === 'server' && error.status === 419 && !session.keepsToken();

/** One form's way to the server. `failedText` is said when the server gives no words of its own. */
export function useSubmission(failedText: string) {
  const underWay = useRef(false);
  const [busy, setBusy] = useState(false);
  const { formRef, errors, showErrors, clearErrors } = useFieldErrors();

  const fail = (cause: unknown, failed?: (error: ApiError) => void) => {
    const error = errorOf(cause);
    const text = error ? toastText(error, failedText) : failedText;
    toast(error && lacksCookies(error) ? texts.noCookies : text, { kind: 'error' });
    if (!error) return;
    if (error.kind === 'invalid') showErrors(error.fields);
    failed?.(error);
  };

  return {
    busy,
    formRef,
    errors,
    clearErrors,
    /** Runs the call once at a time, unless there are problems; a failure is toasted, shown at its fields, and handed on. */
    async submit<Answer>(call: () => Promise<Answer>, { problems = {}, done, failed }: Outcome<Answer>) {
      // a second press may come before the button shows as busy
      if (underWay.current || showErrors(problems)) return;
      underWay.current = true;
      setBusy(true);
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
