import { failureText } from '@liaozhai/shared/format';
import { isApiError, toast } from '@liaozhai/shared/runtime';
import type { FieldErrors } from '@liaozhai/shared/ui';

/** Says what the server refused: at the form's fields, and in a toast where it names none of them. */
export function showRefusal(error: unknown, showErrors: (errors: FieldErrors) => boolean): void {
  const isAtField = showErrors(isApiError(error) && error.kind === 'invalid' ? error.fields : {});
  const problem = isAtField ? undefined : failureText(error);
  if (problem) toast(problem, { kind: 'error' });
}
