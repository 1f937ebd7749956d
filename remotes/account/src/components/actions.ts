import { failureText } from '@liaozhai/shared/format';
import { anyPayload, copyText, isApiError, listen, onCaughtUpNeeded, session, toast } from '@liaozhai/shared/runtime';
import { type FieldErrors, stopAll } from '@liaozhai/shared/ui';
import { useEffect } from 'react';
import { texts } from '../texts';

/** Shows the failure in a toast, unless it has no text. */
export function toastFailure(error: unknown, fallback?: string): void {
  const problem = failureText(error, fallback);
  if (problem) toast(problem, { kind: 'error' });
}

/** Shows a refusal at the form's fields, or in a toast if it does not name any of them. */
export function showRefusal(error: unknown, showErrors: (errors: FieldErrors) => boolean): void {
  const isAtField = showErrors(isApiError(error) && error.kind === 'invalid' ? error.fields : {});
  if (!isAtField) toastFailure(error);
}

/** Copies a text and says in a toast whether it worked. */
export async function copyWithToast(text: string, words: { copied: string; copyFailed: string }): Promise<void> {
  const isCopied = await copyText(text);
  toast(isCopied ? words.copied : words.copyFailed, { kind: isCopied ? 'success' : 'error' });
}

/** Signs out; a failure shows in a toast. */
export const signOut = (): Promise<void> =>
  session.signOut().catch((cause: unknown) => toastFailure(cause, texts.signOut.failed));

/** Fetches again on each such event, and when events may have been missed. */
export function useRefetchOn(event: 'user.updated' | 'session.ended' | 'ticket.answered', refetch: () => unknown) {
  useEffect(() => {
    const refetchNow = () => void refetch();
    return stopAll(listen(event, anyPayload, refetchNow), onCaughtUpNeeded(refetchNow));
  }, [event, refetch]);
}
