import {
  type MouseEvent,
  type PointerEvent,
  type SyntheticEvent,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { guardHistory } from './historyGuard';
import { followKeyboard } from './overlays';

export interface ModalOptions {
  open: boolean;
  /** Asked to close: Escape, back gesture, a tap beside it. The owner then sets `open` to false. */
  onClose?: (() => void) | undefined;
  /** Nothing but its own buttons closes it; may change while it is open. */
  uncloseable?: boolean;
}

/** Drives a native modal `<dialog>`: spread the result on it. */
export function useModalDialog({ open, onClose, uncloseable = false }: ModalOptions) {
  const ref = useRef<HTMLDialogElement>(null);
  const shown = useRef(false);
  const pressedBeside = useRef(false);
  const close = useEffectEvent(() => onClose?.());
  const stays = useEffectEvent(() => uncloseable);

  // In a layout effect, because an open modal in a hidden Activity would leave the whole page inert.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (!open || !dialog) return;
    openQuietly(dialog);
    shown.current = true;
    const leaveKeyboard = followKeyboard(dialog, () => keepFieldInSight(dialog));
    const release = guardHistory(
      () => close(),
      () => stays(),
    );
    return () => {
      shown.current = false;
      leaveKeyboard();
      release();
      dialog.close();
    };
  }, [open]);

  return {
    ref,
    closedby: uncloseable ? ('none' as const) : ('closerequest' as const),
    onCancel(event: SyntheticEvent) {
      // A file input's cancel bubbles up to here.
      if (event.target !== ref.current) return;
      event.preventDefault();
      if (!uncloseable) onClose?.();
    },
    onClose() {
      // Closed by the browser against our word: a prevented cancel gives way at the third Escape.
      if (!shown.current || ref.current?.open) return;
      if (uncloseable) ref.current?.showModal();
      else onClose?.();
    },
    onPointerDown(event: PointerEvent) {
      pressedBeside.current = event.target === ref.current;
    },
    onClick(event: MouseEvent) {
      // Both ends of the press, so that selecting text out over the edge does not close.
      if (!uncloseable && pressedBeside.current && event.target === ref.current) onClose?.();
    },
  };
}

/**
 * The browser focuses the first button. WebKit draws a ring around it even where a finger opened the dialog. The focus therefore
 * goes to the panel unless it came from a ringed element.
 */
function openQuietly(dialog: HTMLDialogElement) {
  // a text field is always ringed, however it got the focus
  const isByKeyboard = document.activeElement?.matches(':is(a, button):focus-visible');
  dialog.showModal();
  if (isByKeyboard || !document.activeElement?.matches('button')) return;
  const panel = dialog.firstElementChild;
  if (!(panel instanceof HTMLElement)) return;
  // not before the dialog is open: WebKit would focus the panel rather than a field inside
  panel.tabIndex = -1;
  panel.focus({ preventScroll: true });
}

/** The keyboard that comes up for a field may cover it. */
function keepFieldInSight(dialog: HTMLDialogElement) {
  const field = document.activeElement;
  if (field?.matches('input, textarea') && dialog.contains(field)) field.scrollIntoView({ block: 'nearest' });
}

const EXIT_MS = 260;

/** Whether to keep drawing what is closing: true while `open` and until the exit motion is over. */
export function usePresence(open: boolean): boolean {
  const [present, setPresent] = useState(open);
  if (open && !present) setPresent(true);
  useEffect(() => {
    if (open || !present) return;
    const timer = setTimeout(() => setPresent(false), EXIT_MS);
    return () => clearTimeout(timer);
  }, [open, present]);
  return open || present;
}
