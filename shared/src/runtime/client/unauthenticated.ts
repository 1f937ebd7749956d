import { createSignal } from '../signal';

const unauthenticated = createSignal();

/** Hears every 401 but those of logging out and of who may have; ten at once are ten calls. Returns the way to stop. */
export const onUnauthenticated = unauthenticated.on;

let epoch = 0;

/** Counts sign-ins: a 401 to a request of an earlier sign-in says nothing of this one. */
export const signInEpoch = {
  current: () => epoch,
  next: () => {
    epoch += 1;
  },
};

let diversion: { epoch: number; hear: () => void } | null = null;

/** Until the next sign-in a 401 is told to `hear` alone; null ends that. */
export function divertUnauthenticated(hear: (() => void) | null) {
  diversion = hear && { epoch, hear };
}

/** Tells of a 401 to a request that was made in `requestEpoch`. */
export function reportUnauthenticated(requestEpoch: number) {
  if (requestEpoch !== epoch) return;
  if (diversion?.epoch === epoch) diversion.hear();
  else unauthenticated.emit();
}
