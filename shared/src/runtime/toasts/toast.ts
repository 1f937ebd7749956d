import { store, useSelector } from '../store';
import { type Toast, toastsSlice } from './toastsSlice';

interface ToastOptions {
  kind?: Toast['kind'];
  action?: { label: string; run: () => void };
  /** how long it stays; default 3 s, 6 s with an action */
  durationMs?: number;
}

const { toastShown, toastDismissed } = toastsSlice.actions;
const actions = new Map<number, () => void>();
let lastId = 0;

export function dismissToast(id: number) {
  actions.delete(id);
  store.dispatch(toastDismissed(id));
}

export function runToastAction(id: number) {
  const run = actions.get(id);
  dismissToast(id);
  run?.();
}

/** Says something briefly. Returns the function that takes it back. */
export function toast(text: string, { kind = 'plain', action, durationMs }: ToastOptions = {}): () => void {
  const id = ++lastId;
  if (action) actions.set(id, action.run);
  store.dispatch(toastShown({ id, text, kind, actionLabel: action?.label }));
  const timer = setTimeout(() => dismissToast(id), durationMs ?? (action ? 6000 : 3000));
  return () => {
    clearTimeout(timer);
    dismissToast(id);
  };
}

/** The toasts that show now, with their actions ready to run. */
export function useToasts() {
  const shown = useSelector((state) => state.toasts);
  return shown.map(({ id, text, kind, actionLabel }) => ({
    id,
    text,
    kind,
    action: actionLabel === undefined ? undefined : { label: actionLabel, run: () => runToastAction(id) },
  }));
}
