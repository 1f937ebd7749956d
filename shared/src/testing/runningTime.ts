/** Shorter waits pass as they are: they are next turns, not times. */
const SHORTEST_MS = 100;
const SLICE_MS = 10;

/** What waits for its time, and how to have that be over. */
const waiting = new Map<unknown, () => void>();

/**
 * Has a page's timers count its own running time: one of 6 s runs out after 600 turns of 10 ms, however long the machine takes for
 * a turn. What a test does within the time of a toast, an undo or a typing pause stays within it on a busy machine.
 */
export function countRunningTime() {
  const { setTimeout: wait, clearTimeout: clear } = globalThis;
  const inSlices = (callback: (...parts: unknown[]) => void, milliseconds = 0, ...parts: unknown[]) => {
    if (!(milliseconds >= SHORTEST_MS)) return wait(callback, milliseconds, ...parts);
    let left = milliseconds;
    const timer = wait(() => {
      left -= SLICE_MS;
      if (left > 0) timer.refresh();
      else end();
    }, SLICE_MS);
    const end = () => {
      stop(timer);
      callback(...parts);
    };
    waiting.set(timer, end);
    return timer;
  };
  const stop = (timer: Parameters<typeof clearTimeout>[0]) => {
    waiting.delete(timer);
    clear(timer);
  };
  Object.assign(globalThis, { setTimeout: inSlices, clearTimeout: stop });
}

const { setTimeout: nextTurn } = globalThis;
/** More than any work of a page takes whose every wait is over. */
const TURNS = 5;

/** Lets the page's work end: the time that it waits for has passed. */
export async function letTimePass() {
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const end of [...waiting.values()]) end();
    await new Promise((resolve) => nextTurn(resolve));
  }
}
