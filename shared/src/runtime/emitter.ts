export interface Emitter<Payload> {
  emit(payload: Payload): void;
  /** Returns the function that stops hearing. */
  on(handler: (payload: Payload) => void): () => void;
}

export function createEmitter<Payload = void>(): Emitter<Payload> {
  const handlers = new Set<(payload: Payload) => void>();
  return {
    emit: (payload) => {
      for (const handler of [...handlers]) handler(payload);
    },
    on: (handler) => {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
  };
}
