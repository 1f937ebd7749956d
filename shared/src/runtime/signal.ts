/** A list of handlers; `on` returns the unsubscribe function. */
export interface Signal<Arguments extends unknown[]> {
  on(handler: (...args: Arguments) => void): () => void;
  emit(...args: Arguments): void;
}

export function createSignal<Arguments extends unknown[] = []>(): Signal<Arguments> {
  const handlers = new Set<{ handle: (...args: Arguments) => void }>();
  return {
    on(handle) {
      const entry = { handle };
      handlers.add(entry);
      return () => void handlers.delete(entry);
    },
    emit: (...args) => {
      for (const { handle } of [...handlers]) handle(...args);
    },
  };
}

/** A mutable value that several modules share. */
export interface Cell<Value> {
  current(): Value;
  set(next: Value): void;
}

export function createCell<Value>(initial: Value): Cell<Value> {
  let value = initial;
  return {
    current: () => value,
    set(next) {
      value = next;
    },
  };
}
