/** Shorter timers run unchanged: they only wait for a later task. */
const SHORTEST_MS = 100;
const SLICE_MS = 10;

/** Pending timers, with the function that ends each. */
const pendingTimers = new Map<unknown, () => void>();

/**
 * Makes timers count the page's running time: 6 s end after 600 turns of 10 ms, however slow the machine is. A test's actions
 * within the time of a toast, an undo or a typing pause stay within it.
 */
export function countRunningTime() {
  const { setTimeout: wait, clearTimeout: clear } = globalThis;
  const inSlices = (callback: (...parts: unknown[]) => void, milliseconds = 0, ...parts: unknown[]) => {
    if (!(milliseconds >= SHORTEST_MS)) return wait(callback, milliseconds, ...parts);
    let remainingMs = milliseconds;
    const timer = wait(() => {
      remainingMs -= SLICE_MS;
      if (remainingMs > 0) timer.refresh();
      else end();
    }, SLICE_MS);
    const end = () => {
      stop(timer);
      callback(...parts);
    };
    pendingTimers.set(timer, end);
    return timer;
  };
  const stop = (timer: Parameters<typeof clearTimeout>[0]) => {
    pendingTimers.delete(timer);
    clear(timer);
  };
  Object.assign(globalThis, { setTimeout: inSlices, clearTimeout: stop });
}

const { setTimeout: nextTurn } = globalThis;
/** More turns than any page needs to settle after its timers have ended. */
const TURNS = 5;

/** Ends all pending timers and lets the page settle. */
export async function letTimePass() {
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const end of [...pendingTimers.values()]) end();
    await new Promise((resolve) => nextTurn(resolve));
  }
}
