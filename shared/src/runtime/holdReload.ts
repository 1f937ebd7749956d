import { createSignal } from './signal';

const holds = new Map<symbol, string>();
const changed = createSignal();

/** Delays the reload that a new set wants, e.g. while words are unsent. Returns the release. */
export function holdReload(reason: string): () => void {
  const hold = Symbol(reason);
  holds.set(hold, reason);
  changed.emit();
  return () => {
    if (holds.delete(hold)) changed.emit();
  };
}

export const reloadHolds = (): string[] => [...new Set(holds.values())];
export const onReloadHoldsChanged = changed.on;
