import { session, toast } from '@liaozhai/shared/runtime';
import { Button, Dialog, LogOutIcon } from '@liaozhai/shared/ui';
import { useState } from 'react';
import { texts } from '../texts';

/** Logs out after a question, because what this device keeps of the user goes with it. */
export function SignOutButton() {
  const [asking, setAsking] = useState(false);
  const [leaving, setLeaving] = useState(false);
  const signOut = async () => {
    setLeaving(true);
    const done = await session.signOut().then(
      () => true,
      () => false,
    );
    setLeaving(false);
    setAsking(false);
    if (!done) toast(texts.signOut.failed, { kind: 'error' });
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
