/** A list of handlers. */
export function createSignal<Arguments extends unknown[] = []>() {
  const handlers = new Set<{ handle: (...args: Arguments) => void }>();
  return {
    /** Returns the unsubscribe function. */
    on(handle: (...args: Arguments) => void): () => void {
      const entry = { handle };
      handlers.add(entry);
      return () => void handlers.delete(entry);
    },
    emit(...args: Arguments): void {
      for (const { handle } of [...handlers]) handle(...args);
    },
  };
}

/** A mutable value that several modules share. */
export function createCell<Value>(initial: Value) {
  let value = initial;
  const changed = createSignal();
  return {
    current: (): Value => value,
    /** Subscribes to changes. Returns the unsubscribe function. */
    on: changed.on,
    set(next: Value): void {
      if (next === value) return;
      value = next;
      changed.emit();
    },
  };
}
