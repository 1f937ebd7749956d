import { createSignal } from '../signal';

const unauthenticated = createSignal();

/** Hears every 401 but those of logging out; ten at once are ten calls. Returns the way to stop. */
export const onUnauthenticated = unauthenticated.on;

let epoch = 0;

/** Counts sign-ins: a 401 to a request of an earlier sign-in says nothing of this one. */
export const signInEpoch = {
  current: () => epoch,
  next: () => {
    epoch += 1;
  },
};

/** Tells of a 401 to a request that was made in `requestEpoch`. */
export function reportUnauthenticated(requestEpoch: number) {
  if (requestEpoch === epoch) unauthenticated.emit();
}
