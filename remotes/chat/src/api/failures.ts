import { failureText } from '@liaozhai/shared/format';
import { type ApiError, isApiError, toast } from '@liaozhai/shared/runtime';

/** Narrows a caught value to ApiError. Throws every other cause, since it is a defect of this code. */
export function expectApiError(cause: unknown): ApiError {
  if (!isApiError(cause)) throw cause;
  return cause;
}

/** Shows the failure in a toast. Throws a cause that is not an ApiError. */
export function toastFailure(cause: unknown, fallback?: string): void {
  const problem = failureText(expectApiError(cause), fallback);
  if (problem) toast(problem, { kind: 'error' });
}
