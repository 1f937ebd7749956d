import { type ReactNode, useId } from 'react';
import { Button } from './Button';
import styles from './Dialog.module.css';
import { useModalDialog, usePresence } from './useModalDialog';

export interface DialogProps {
  open: boolean;
  title: string;
  children?: ReactNode;
  confirmLabel?: string;
  onConfirm: () => void;
  /** Makes the dialog a question; without it the dialog is a notice with one button. */
  cancelLabel?: string;
  /** Called on cancel, Escape, the back gesture and a tap outside. */
  onClose?: () => void;
  danger?: boolean;
  /** The confirmed action is running and can no longer be cancelled, so the dialog stays open. */
  busy?: boolean;
  /** May be closed while busy; the action continues. */
  leaveable?: boolean;
  /** Only its buttons close it, not Escape, the back gesture or a tap outside. */
  uncloseable?: boolean;
}

export function Dialog({
  open,
  title,
  children,
  confirmLabel = '好',
  onConfirm,
  cancelLabel,
  onClose,
  danger = false,
  busy = false,
  leaveable = false,
  uncloseable = false,
}: DialogProps) {
  const isLocked = busy && !leaveable;
  const id = useId();
  const dialog = useModalDialog({ open, onClose: onClose ?? onConfirm, uncloseable: uncloseable || isLocked });
  const isPresent = usePresence(open);
  return (
    <dialog
      {...dialog}
      className={styles.overlay}
      role="alertdialog"
      aria-labelledby={`${id}-title`}
      aria-describedby={children ? `${id}-text` : undefined}
    >
      {isPresent && (
        <div className={styles.panel}>
          <h2 id={`${id}-title`} className={styles.title}>
            {title}
          </h2>
          {children && (
            <div id={`${id}-text`} className={styles.text}>
              {children}
            </div>
          )}
          <div className={styles.actions}>
            {cancelLabel && (
              <Button variant="quiet" disabled={isLocked} onClick={onClose}>
                {cancelLabel}
              </Button>
            )}
            <Button variant={danger ? 'danger' : 'primary'} loading={busy} onClick={onConfirm}>
              {confirmLabel}
            </Button>
          </div>
        </div>
      )}
    </dialog>
  );
}
