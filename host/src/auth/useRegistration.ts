import { copyText, session, toast, uncopiedCredentials } from '@liaozhai/shared/runtime';
import { useState } from 'react';
import type { AuthForm } from './authForm';
import { forgetInviteCode, readInviteCode } from './inviteCode';
import { rememberPendingConfirmation } from './pendingConfirmation';
import { createRegistrar } from './registrar';
import { texts } from './texts';
import { useSubmission } from './useSubmission';

interface After {
  onConfirmationNeeded: () => void;
  /** Signed in and the credentials are kept. */
  onDone: () => void;
}

/** Registers once, then sees to it that the credentials are kept: on the clipboard, else by the visitor's hand. */
export function useRegistration({ name, login, password }: AuthForm, { onConfirmationNeeded, onDone }: After) {
  const { submit, busy, errors, clearError } = useSubmission(texts.register.failed);
  const [uncopied, setUncopied] = useState<string | null>(null);
  const [inviteCode] = useState(readInviteCode);
  const [register] = useState(createRegistrar);

  const credentials = texts.credentials.text(login, password);

  /** Called within the tap, where alone the clipboard may be asked; nothing is copied unless the visitor is signed in. */
  const signUp = async () => {
    const registering = register({ login, password, name }, inviteCode);
    const copying = copyText(
      registering.then((user) => {
        if (!user) throw new Error('the address is to be confirmed first');
        return credentials;
      }),
    );
    return { user: await registering, copying };
  };

  const keepCredentials = async (copying: Promise<boolean>) => {
    if (!(await copying)) {
      uncopiedCredentials.keep(credentials);
      return setUncopied(credentials);
    }
    toast(texts.credentials.copied, { kind: 'success' });
    onDone();
  };

  return {
    busy,
    errors,
    clearError,
    inviteCode,
    uncopied,
    onSubmit: () =>
      submit(signUp, {
        done({ user, copying }) {
          forgetInviteCode();
          if (!user) {
            rememberPendingConfirmation();
            return onConfirmationNeeded();
          }
          session.userReceived(user);
          return keepCredentials(copying);
        },
      }),
    onCopied() {
      uncopiedCredentials.forget();
      setUncopied(null);
      onDone();
    },
  };
}
