/** Whether the device itself has a network. With one it is the service that cannot be reached, so far as anybody can tell. */
export const hasNetwork = (): boolean => globalThis.navigator?.onLine !== false;
