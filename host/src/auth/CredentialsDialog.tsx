import { Dialog, TextArea } from '@liaozhai/shared/ui';
import type { FocusEvent } from 'react';
import { texts } from './texts';

interface CredentialsDialogProps {
  /** Login and password as text; null keeps the dialog closed. */
  credentials: string | null;
  onCopied: () => void;
}

/** The last chance to keep credentials that the clipboard refused: only its button closes it. */
export function CredentialsDialog({ credentials, onCopied }: CredentialsDialogProps) {
  return (
    <Dialog
      open={credentials !== null}
      title={texts.credentials.copyFailed}
      confirmLabel={texts.credentials.copiedByHand}
      onConfirm={onCopied}
      uncloseable
    >
      <TextArea
        label={texts.credentials.copyByHand}
        value={credentials ?? ''}
        readOnly
        rows={2}
        onFocus={selectOnceOpen}
      />
    </Dialog>
  );
}

/** A frame later, because the dialog focuses the box while it opens, and WebKit 2.44 (Safari 17) then draws it empty. */
function selectOnceOpen({ target }: FocusEvent<HTMLTextAreaElement>) {
  requestAnimationFrame(() => target.select());
}
