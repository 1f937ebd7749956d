import { failureText } from '@liaozhai/shared/format';
import { type ApiError, isApiError, toast } from '@liaozhai/shared/runtime';
import { useModule } from '@liaozhai/shared/ui';
import { texts } from '../texts';

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

/** Loads a sheet or bar of the chat when it is first needed. One that cannot be loaded is closed, with a toast. */
export function useLatePart<Module extends object>(load: () => Promise<Module>, isNeeded: boolean, close: () => void) {
  return useModule(load, isNeeded, () => {
    toast(texts.chat.unavailable, { kind: 'error' });
    close();
  });
}
