import { useDrag } from '@use-gesture/react';
import CloseIcon from 'lucide-react/icons/x';
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { IconButton } from './Button';
import styles from './Dialog.module.css';
import { useModalDialog, usePresence } from './useModalDialog';

export interface SheetProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** The user cannot close it, e.g. while a form is being sent. */
  uncloseable?: boolean;
  children: ReactNode;
  /** Stays visible below the scrolling body, for the action. */
  footer?: ReactNode;
}

/** A modal from the bottom edge on a phone, centred on a desktop. */
export function Sheet({ open, onClose, title, uncloseable = false, children, footer }: SheetProps) {
  const titleId = useId();
  const panel = useRef<HTMLDivElement>(null);
  const dialog = useModalDialog({ open, onClose, uncloseable });
  const isPresent = usePresence(open);
  const dragToClose = useDragToClose(panel, uncloseable ? undefined : onClose);
  // Focuses the sheet itself, so that no keyboard opens on a phone.
  useLayoutEffect(() => {
    if (open) panel.current?.focus({ preventScroll: true });
  }, [open]);
  return (
    <dialog {...dialog} className={styles.sheetOverlay} aria-labelledby={titleId}>
      {isPresent && (
        <div ref={panel} className={styles.sheetPanel} tabIndex={-1}>
          <header className={styles.head} {...dragToClose()}>
            <span className={styles.grip} />
            <h2 id={titleId} className={styles.sheetTitle}>
              {title}
            </h2>
            <IconButton label="关闭" icon={<CloseIcon size={22} />} onClick={onClose} disabled={uncloseable} />
          </header>
          <div className={styles.body}>{children}</div>
          {footer && <footer className={styles.foot}>{footer}</footer>}
        </div>
      )}
    </dialog>
  );
}

const CLOSE_DISTANCE_PX = 96;
const CLOSE_SPEED_PX_PER_MS = 0.5;

function useDragToClose(panel: { current: HTMLElement | null }, onClose: (() => void) | undefined) {
  return useDrag(
    ({ movement: [, distancePx], velocity: [, speed], direction: [, sign], active, last }) => {
      if (!panel.current) return;
      // for a tap, `active` and `last` are both false
      panel.current.style.transform = active ? `translateY(${Math.max(0, distancePx)}px)` : '';
      panel.current.style.transition = active ? 'none' : '';
      if (last && (distancePx > CLOSE_DISTANCE_PX || (sign > 0 && speed > CLOSE_SPEED_PX_PER_MS))) onClose?.();
    },
    { axis: 'y', filterTaps: true, pointer: { keys: false } },
  );
}
