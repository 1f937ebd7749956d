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
  /** Called on Escape, the back gesture and a tap outside. The owner then sets `open` to false. */
  onClose?: (() => void) | undefined;
  /** Only its own buttons close it; may change while it is open. */
  uncloseable?: boolean;
}

/** Controls a native modal `<dialog>`: spread the result on it. */
export function useModalDialog({ open, onClose, uncloseable = false }: ModalOptions) {
  const ref = useRef<HTMLDialogElement>(null);
  const isShown = useRef(false);
  const isPressedOutside = useRef(false);
  const close = useEffectEvent(() => onClose?.());
  const isUncloseable = useEffectEvent(() => uncloseable);

  // A layout effect, because an open modal in a hidden Activity would leave the whole page inert.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (!open || !dialog) return;
    openWithoutRing(dialog);
    isShown.current = true;
    const stopFollowingKeyboard = followKeyboard(dialog, () => scrollFieldIntoView(dialog));
    const releaseHistory = guardHistory(
      () => close(),
      () => isUncloseable(),
    );
    return () => {
      isShown.current = false;
      stopFollowingKeyboard();
      releaseHistory();
      dialog.close();
    };
  }, [open]);

  return {
    ref,
    closedby: uncloseable ? ('none' as const) : ('closerequest' as const),
    onCancel(event: SyntheticEvent) {
      // the `cancel` of a file input bubbles up to here
      if (event.target !== ref.current) return;
      event.preventDefault();
      if (!uncloseable) onClose?.();
    },
    onClose() {
      // The browser closed it despite `preventDefault`, as at the third Escape.
      if (!isShown.current || ref.current?.open) return;
      if (uncloseable) ref.current?.showModal();
      else onClose?.();
    },
    onPointerDown(event: PointerEvent) {
      isPressedOutside.current = event.target === ref.current;
    },
    onClick(event: MouseEvent) {
      // Checks both ends of the press, so that a text selection that ends outside does not close.
      if (!uncloseable && isPressedOutside.current && event.target === ref.current) onClose?.();
    },
  };
}

/**
 * The browser focuses the first button, and WebKit draws a ring around it even after a touch. The focus therefore moves to the
 * panel, unless it came from an element with a ring.
 */
function openWithoutRing(dialog: HTMLDialogElement) {
  // a text field always has a ring, so only links and buttons show keyboard use
  const isByKeyboard = document.activeElement?.matches(':is(a, button):focus-visible');
  dialog.showModal();
  if (isByKeyboard || !document.activeElement?.matches('button')) return;
  const panel = dialog.firstElementChild;
  if (!(panel instanceof HTMLElement)) return;
  // not before `showModal`: WebKit would focus the panel instead of a field inside
  panel.tabIndex = -1;
  panel.focus({ preventScroll: true });
}

/** The keyboard for a field may cover it. */
function scrollFieldIntoView(dialog: HTMLDialogElement) {
  const field = document.activeElement;
  if (field?.matches('input, textarea') && dialog.contains(field)) field.scrollIntoView({ block: 'nearest' });
}

const EXIT_MS = 260;

/** Whether to keep rendering a closing element: true while `open` and during the exit transition. */
export function usePresence(open: boolean): boolean {
  const [isPresent, setPresent] = useState(open);
  if (open && !isPresent) setPresent(true);
  useEffect(() => {
    if (open || !isPresent) return;
    const timer = setTimeout(() => setPresent(false), EXIT_MS);
    return () => clearTimeout(timer);
  }, [open, isPresent]);
  return open || isPresent;
}
