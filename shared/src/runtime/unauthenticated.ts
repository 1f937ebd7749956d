import { createEmitter } from './emitter';

const unauthenticated = createEmitter();

/** Hears every 401. The popup listens here; the caller still gets its error. */
export const onUnauthenticated = (handler: () => void) => unauthenticated.on(handler);
export const emitUnauthenticated = () => unauthenticated.emit();
