import { failureText } from '@liaozhai/shared/format';
import { type ApiError, isApiError, toast } from '@liaozhai/shared/runtime';

/** What a failed request said. Throws every other cause: it is a fault of this code. */
export function expectApiError(cause: unknown): ApiError {
  if (!isApiError(cause)) throw cause;
  return cause;
}

/** Says in a toast what could not be done. Throws a cause that is no failed request. */
export function toastFailure(cause: unknown, fallback?: string): void {
  const problem = failureText(expectApiError(cause), fallback);
  if (problem) toast(problem, { kind: 'error' });
}
