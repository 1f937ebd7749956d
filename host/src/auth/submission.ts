import type { ApiError } from '@liaozhai/shared/contract';
import { toastText } from '@liaozhai/shared/format';
import { session, toApiError, toast } from '@liaozhai/shared/runtime';
import { type FieldErrors, useFieldErrors } from '@liaozhai/shared/ui';
import { type FormEvent, useRef, useState } from 'react';
import { texts } from './texts';

interface Outcome<Answer> {
  /** Problems that prevent the request, by field name. */
  problems?: FieldErrors;
  onSuccess: (answer: Answer) => unknown;
  onFailure?: (error: ApiError) => void;
}

/** Returns null if the cause is not a failed request, such as an unreadable response. */
function errorOf(cause: unknown): ApiError | null {
  try {
    return toApiError(cause);
  } catch (unexpectedCause) {
    console.error(unexpectedCause);
    return null;
  }
}

/** Whether cookies are blocked: without the token's cookie, the server refuses every form with 419. */
const lacksCookies = (error: ApiError) => error.kind === 'server' && error.status === 419 && !session.keepsToken();

export type Submission = ReturnType<typeof useSubmission>;

/** Submission state of one form. `failedText` is shown if the server sends no message. */
export function useSubmission(failedText: string) {
  const isUnderWay = useRef(false);
  const [busy, setBusy] = useState(false);
  const { formRef, errors, showErrors, clearErrors } = useFieldErrors();

  const showFailure = (cause: unknown, onFailure?: (error: ApiError) => void) => {
    const error = errorOf(cause);
    const text = error ? toastText(error, failedText) : failedText;
    toast(error && lacksCookies(error) ? texts.noCookies : text, { kind: 'error' });
    if (!error) return;
    if (error.kind === 'invalid') showErrors(error.fields);
    onFailure?.(error);
  };

  return {
    busy,
    errors,
    clearErrors,
    /** Props of the `<form>`. An edited field loses its error. */
    formProps: (onSubmit: () => unknown) => ({
      ref: formRef,
      noValidate: true,
      onInput: ({ target }: FormEvent) => clearErrors((target as HTMLInputElement).name),
      onSubmit(event: FormEvent) {
        event.preventDefault();
        onSubmit();
      },
    }),
    /** Runs one call at a time, unless there are problems. A failure is toasted, shown at its fields and passed to `onFailure`. */
    async submit<Answer>(call: () => Promise<Answer>, { problems = {}, onSuccess, onFailure }: Outcome<Answer>) {
      // a second press may arrive before the button renders as busy
      if (isUnderWay.current || showErrors(problems)) return;
      isUnderWay.current = true;
      setBusy(true);
      try {
        const outcome = await call().then(
          (answer) => ({ answer }),
          (cause: unknown) => ({ cause }),
        );
        if ('answer' in outcome) await onSuccess(outcome.answer);
        else showFailure(outcome.cause, onFailure);
      } finally {
        isUnderWay.current = false;
        setBusy(false);
      }
    },
  };
}
