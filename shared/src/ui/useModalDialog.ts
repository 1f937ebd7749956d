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
 * The browser focuses the first button. WebKit draws a ring around it even where a finger opened the dialog, so that the
 * focus goes to the panel unless it came from a ringed element.
 */
function openQuietly(dialog: HTMLDialogElement) {
  // a text field is always ringed, whoever focused it
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

const EXIT_MILLISECONDS = 260;

/** Whether to keep drawing what is closing: true while `open` and until the exit motion is over. */
export function usePresence(open: boolean): boolean {
  const [present, setPresent] = useState(open);
  if (open && !present) setPresent(true);
  useEffect(() => {
    if (open || !present) return;
    const timer = setTimeout(() => setPresent(false), EXIT_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [open, present]);
  return open || present;
}

/** An open overlay's stand against the back gesture. */
interface Guard {
  id: string;
  /** Called when the reader goes back; the entry is gone by then. */
  onBack: () => void;
  /** Going back does not close it now: the entry is restored instead. Read when the reader goes back. */
  readonly stays: boolean;
  released: boolean;
}

interface Guards {
  open: Guard[];
  /** The router entry under the overlays while a step over them may still arrive. */
  page: string | null;
  /** A step back over dead entries is under way; a second one would leave the app. */
  stepping: boolean;
}

// Each remote bundles its own copy of this file; all copies must see one pile of overlays.
const GUARDS = Symbol.for('liaozhai.historyGuards');

function guards(): Guards {
  const holder = globalThis as { [GUARDS]?: Guards };
  if (!holder[GUARDS]) {
    holder[GUARDS] = { open: [], page: null, stepping: false };
    window.addEventListener('popstate', onPopState, { capture: true });
  }
  return holder[GUARDS];
}

/**
 * Puts a history entry over the page, so that going back closes the overlay instead of leaving the page, unless it `stays` then.
 * Returns the function that takes it away again when the overlay closes by itself.
 */
export function guardHistory(onBack: () => void, stays = () => false): () => void {
  const all = guards();
  const top = all.open.at(-1);
  // Closed and opened in one breath (strict mode, one sheet giving way to another): take over its entry.
  const inherited = top?.released && idsHere().at(-1) === top.id ? all.open.pop() : undefined;
  const guard: Guard = {
    id: inherited?.id ?? Math.random().toString(36).slice(2),
    onBack,
    get stays() {
      return stays();
    },
    released: false,
  };
  all.open.push(guard);
  all.page = pageHere();
  if (!inherited) pushEntry(all);
  return () => {
    guard.released = true;
    // A navigation started by the same tap must reach the history first; then there is nothing to step back over.
    setTimeout(settle);
  };
}

/**
 * Steps back over the entries of overlays that the document before this one left open, and listens for more of them.
 * To be called before the first overlay can open; resolves once the page's own entry is reached.
 */
export async function leaveDeadOverlays(): Promise<void> {
  settle();
  while (guards().stepping)
    await new Promise((resolve) => window.addEventListener('popstate', resolve, { once: true }));
}

function pushEntry(all: Guards) {
  const overlays = all.open.filter((guard) => !guard.released).map((guard) => guard.id);
  history.pushState({ ...history.state, overlays }, '');
}

/** Steps back over the entries of overlays that have closed by themselves. */
function settle() {
  const all = guards();
  // what closed meanwhile is seen when the step arrives
  if (all.stepping) return;
  const steps = deadEntriesHere(all);
  all.open = all.open.filter((guard) => !guard.released);
  if (steps > 0) stepBack(all, steps);
  else if (all.open.length === 0) all.page = null;
}

function stepBack(all: Guards, steps: number) {
  all.stepping = true;
  history.go(-steps);
}

function onPopState(event: PopStateEvent) {
  const all = guards();
  all.stepping = false;
  const samePage = all.page === pageHere();
  // The router would take this for a navigation to the same entry, and a blocker of its would reload the page.
  if (samePage) event.stopImmediatePropagation();
  const gone = all.open.filter((guard) => !guard.released && !idsHere().includes(guard.id)).reverse();
  const staying = gone.some((guard) => guard.stays);
  for (const guard of gone) {
    if (guard.stays) continue;
    guard.released = true;
    guard.onBack();
  }
  const dead = staying ? 0 : deadEntriesHere(all);
  all.open = all.open.filter((guard) => !guard.released);
  all.page = all.open.length > 0 || dead > 0 ? pageHere() : null;
  if (dead > 0) stepBack(all, dead);
  else if (staying && samePage) history.go(1);
  else if (staying) pushEntry(all);
}

function deadEntriesHere(all: Guards): number {
  const ids = idsHere();
  const alive = ids.findLastIndex((id) => all.open.some((guard) => guard.id === id && !guard.released));
  return ids.length - 1 - alive;
}

function idsHere(): string[] {
  const overlays: unknown = history.state?.overlays;
  return Array.isArray(overlays) ? overlays : [];
}

const pageHere = () => `${history.state?.key ?? ''} ${location.href}`;

/** Above this the reader has zoomed in: the view is smaller then too, and there is no keyboard to blame. */
const ZOOMED = 1.01;

/**
 * Tells an element's style how much of the window the on-screen keyboard leaves, where the browser lays it over the page
 * (Safari) or moves the page up behind it: `--keyboard` is covered below, `--view-top` is out of sight above, both in px.
 * Returns the way to stop.
 */
export function followKeyboard(element: HTMLElement, onChange?: () => void): () => void {
  const view = window.visualViewport;
  if (!view) return () => undefined;
  let last = '';
  const place = () => {
    const isZoomed = view.scale > ZOOMED;
    const covered = isZoomed ? 0 : Math.max(0, window.innerHeight - view.height - view.offsetTop);
    const above = isZoomed ? 0 : Math.max(0, view.offsetTop);
    const insets = { '--keyboard': `${Math.round(covered)}px`, '--view-top': `${Math.round(above)}px` };
    const now = JSON.stringify(insets);
    if (now === last) return;
    last = now;
    for (const [name, value] of Object.entries(insets)) element.style.setProperty(name, value);
    onChange?.();
  };
  place();
  view.addEventListener('resize', place);
  view.addEventListener('scroll', place);
  return () => {
    view.removeEventListener('resize', place);
    view.removeEventListener('scroll', place);
  };
}
