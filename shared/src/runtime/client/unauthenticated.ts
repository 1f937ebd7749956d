import { createSignal } from '../signal';

/** The subscribers to 401 answers. */
function createUnauthenticated() {
  const refused = createSignal();
  let epoch = 0;
  let diversion: { epoch: number; handle: () => void } | null = null;
  return {
    /** Subscribes to every 401, except of a log-out and while they are diverted; ten together are ten calls. Returns the way to stop. */
    on: refused.on,
    /** Counts sign-ins: a 401 to a request of an earlier sign-in does not concern this one. */
    signInEpoch: {
      current: () => epoch,
      next: () => {
        epoch += 1;
      },
    },
    /** Until the next sign-in a 401 goes to `handle` alone; null ends that. */
    divert(handle: (() => void) | null) {
      diversion = handle && { epoch, handle };
    },
    /** Reports a 401 to a request that was made in `requestEpoch`. */
    report(requestEpoch: number) {
      if (requestEpoch !== epoch) return;
      if (diversion?.epoch === epoch) diversion.handle();
      else refused.emit();
    },
  };
}

export const unauthenticated = createUnauthenticated();

export const { on: onUnauthenticated, signInEpoch } = unauthenticated;
