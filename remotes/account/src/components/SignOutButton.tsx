import { failureText } from '@liaozhai/shared/format';
import { isApiError, session, toast } from '@liaozhai/shared/runtime';
import { Button, Dialog, LogOutIcon } from '@liaozhai/shared/ui';
import { useState } from 'react';
import { texts } from '../texts';

function tell(cause: unknown) {
  if (!isApiError(cause)) throw cause;
  const problem = failureText(cause, texts.signOut.failed);
  if (problem) toast(problem, { kind: 'error' });
}

/** Logs out after a question, because what this device keeps of the user goes with it. */
export function SignOutButton() {
  const [asking, setAsking] = useState(false);
  const [leaving, setLeaving] = useState(false);
  const signOut = async () => {
    setLeaving(true);
    await session
      .signOut()
      .catch(tell)
      .finally(() => {
        setLeaving(false);
        setAsking(false);
      });
  };
  return (
    <>
      <Button variant="quiet" block icon={<LogOutIcon size={20} />} onClick={() => setAsking(true)}>
        {texts.signOut.action}
      </Button>
      <Dialog
        open={asking}
        title={texts.signOut.title}
        confirmLabel={texts.signOut.confirm}
        cancelLabel={texts.signOut.cancel}
        onConfirm={() => void signOut()}
        onClose={() => setAsking(false)}
        busy={leaving}
        danger
      >
        {texts.signOut.body}
      </Dialog>
    </>
  );
}
