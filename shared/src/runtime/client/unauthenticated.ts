import { createSignal } from '../signal';

/** Distributes 401 responses. */
function createUnauthenticated() {
  const refusals = createSignal();
  let epoch = 0;
  let diversion: { epoch: number; handle: () => void } | null = null;
  return {
    /** Subscribes to 401s of the present sign-in, except log-outs, optional requests and diverted ones. Returns the unsubscribe function. */
    on: refusals.on,
    /** Counts sign-ins: a 401 to a request of an earlier sign-in does not concern the present one. */
    signInEpoch: {
      current: () => epoch,
      next: () => {
        epoch += 1;
      },
    },
    /** Sends every 401 to `handle` only, until the next sign-in; null ends the diversion. */
    divert(handle: (() => void) | null) {
      diversion = handle && { epoch, handle };
    },
    /** Reports a 401 of a request that was sent in `requestEpoch`. */
    report(requestEpoch: number) {
      if (requestEpoch !== epoch) return;
      if (diversion?.epoch === epoch) diversion.handle();
      else refusals.emit();
    },
  };
}

export const unauthenticated = createUnauthenticated();

export const { on: onUnauthenticated, signInEpoch } = unauthenticated;
