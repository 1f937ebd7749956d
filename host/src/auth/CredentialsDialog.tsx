import { Dialog, TextArea } from '@liaozhai/shared/ui';
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
        onFocus={(event) => event.target.select()}
      />
    </Dialog>
  );
}
