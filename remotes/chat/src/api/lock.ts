/** Runs `work` while no other tab holds the lock; http pages have no locks, and there the server's idempotency keys suffice. */
export const holdingLock = (name: string, work: () => Promise<void>): Promise<void> =>
  navigator.locks ? navigator.locks.request(name, work) : work();
