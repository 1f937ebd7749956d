import { Dialog } from '@liaozhai/shared/ui';
import { texts } from '../texts';

/** Asks before unsaved changes are given up. */
export function LeaveDialog({ open, onAnswer }: { open: boolean; onAnswer: (leave: boolean) => void }) {
  return (
    <Dialog
      open={open}
      title={texts.profile.leaveTitle}
      confirmLabel={texts.profile.leave}
      cancelLabel={texts.profile.stay}
      onConfirm={() => onAnswer(true)}
      onClose={() => onAnswer(false)}
      danger
    >
      {texts.profile.leaveBody}
    </Dialog>
  );
}
