import { useMemo } from 'react';
import { newClientId } from './client/request';
import { session } from './session/session';
import { type StoredToast, store, toastsSlice, useSelector } from './store';

export interface ToastOptions {
  kind?: StoredToast['kind'];
  action?: { label: string; run: () => void };
  durationMs?: number;
  /** shown before all others, since its action expires with it */
  isFirst?: boolean;
  /** removed when the user changes, because its text or action is theirs alone */
  isPersonal?: boolean;
  /** Called when its time has passed, not when it was dismissed or its action ran. */
  onOver?: () => void;
}

export interface Toast extends StoredToast {
  action?: { label: string; run: () => void };
}

const DURATION_MS = 3000;
const ACTION_DURATION_MS = 6000;
const HELD_RETRY_MS = 500;

const { toastRaised, toastRaisedFirst, toastDismissed } = toastsSlice.actions;

/** non-serialisable parts of each toast: its action, duration and running timer */
const details = new Map<string, ToastOptions & { timer?: ReturnType<typeof setTimeout> }>();

/** Queues a message; one shows at a time, and an equal text without an action is replaced. Returns the dismiss function. */
export function toast(text: string, options: ToastOptions = {}): () => void {
  const { kind = 'plain', action } = options;
  const equalToast = store.getState().toasts.find((other) => other.text === text && other.kind === kind && !action);
  if (equalToast) dismissToast(equalToast.id);
  const id = newClientId();
  details.set(id, options);
  const raiseToast = options.isFirst ? toastRaisedFirst : toastRaised;
  store.dispatch(raiseToast({ id, text, kind, actionLabel: action?.label }));
  startTimer();
  return () => dismissToast(id);
}

export function dismissToast(id: string) {
  clearTimeout(details.get(id)?.timer);
  details.delete(id);
  store.dispatch(toastDismissed(id));
  startTimer();
}

session.onUserChanged(() => {
  for (const [id, { isPersonal }] of details) if (isPersonal) dismissToast(id);
});

/** Starts the timer of the visible toast: its time runs from when it is shown. */
function startTimer() {
  const [visibleToast] = store.getState().toasts;
  const detail = visibleToast && details.get(visibleToast.id);
  if (!detail || detail.timer !== undefined) return;
  dismissAfter(visibleToast.id, detail.durationMs ?? (detail.action ? ACTION_DURATION_MS : DURATION_MS));
}

/** A pressed toast, or one whose button has the focus, stays until it is released. */
const isHeld = () => document.querySelector('[data-toasts]:is([data-held], :focus-within)') !== null;

function dismissAfter(id: string, ms: number) {
  const detail = details.get(id);
  if (!detail) return;
  detail.timer = setTimeout(() => {
    if (isHeld()) return dismissAfter(id, HELD_RETRY_MS);
    dismissToast(id);
    detail.onOver?.();
  }, ms);
}

function withAction(toast: StoredToast): Toast {
  const action = details.get(toast.id)?.action;
  if (!action) return toast;
  const run = () => {
    dismissToast(toast.id);
    action.run();
  };
  return { ...toast, action: { label: action.label, run } };
}

/** The visible toast, if any, as a list of at most one. */
export function useToasts(): Toast[] {
  const toasts = useSelector((state) => state.toasts);
  return useMemo(() => toasts.slice(0, 1).map(withAction), [toasts]);
}
