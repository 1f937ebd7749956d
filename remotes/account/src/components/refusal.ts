import { failureText } from '@liaozhai/shared/format';
import { isApiError, toast } from '@liaozhai/shared/runtime';
import type { FieldErrors } from '@liaozhai/shared/ui';

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
