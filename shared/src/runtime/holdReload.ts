import { createEmitter } from './emitter';

const holds = new Map<symbol, string>();
const changed = createEmitter();

/** Delays the reload that a new set wants, e.g. while words are unsent. Returns the release. */
export function holdReload(reason: string): () => void {
  const hold = Symbol(reason);
  holds.set(hold, reason);
  changed.emit();
  return () => {
    if (holds.delete(hold)) changed.emit();
  };
}

export const reloadHolds = (): string[] => [...holds.values()];
export const onReloadHoldsChanged = (handler: () => void) => changed.on(handler);
