import { failureText } from '@liaozhai/shared/format';
import { isApiError, toast } from '@liaozhai/shared/runtime';
import type { FieldErrors } from '@liaozhai/shared/ui';

/** Says in a toast what could not be done, where there is anything to say. */
export function toastFailure(error: unknown, fallback?: string): void {
  const problem = failureText(error, fallback);
  if (problem) toast(problem, { kind: 'error' });
}

/** Says what the server refused: at the form's fields, and in a toast where it names none of them. */
export function showRefusal(error: unknown, showErrors: (errors: FieldErrors) => boolean): void {
  const isAtField = showErrors(isApiError(error) && error.kind === 'invalid' ? error.fields : {});
  if (!isAtField) toastFailure(error);
}
