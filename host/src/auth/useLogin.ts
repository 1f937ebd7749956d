import { session, toast } from '@liaozhai/shared/runtime';
import { login as callLogin } from './authCalls';
import type { AuthForm } from './authForm';
import { texts } from './texts';
import { useSubmission } from './useSubmission';

interface After {
  onConfirmationNeeded: () => void;
  onDone: () => void;
}

/** Logs in once; an account whose address is not confirmed yet is refused with 403. */
export function useLogin({ login, password }: AuthForm, { onConfirmationNeeded, onDone }: After) {
  const { submit, busy, errors, clearError } = useSubmission(texts.login.failed);
  return {
    busy,
    errors,
    clearError,
    onSubmit: () =>
      submit(() => callLogin({ login, password }), {
        done(user) {
          session.userReceived(user);
          toast(texts.login.done, { kind: 'success' });
          onDone();
        },
        failed: (error) => error.kind === 'forbidden' && onConfirmationNeeded(),
      }),
  };
}
