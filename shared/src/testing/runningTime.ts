/** Shorter waits pass as they are: they are next turns, not times. */
const SHORTEST_MS = 100;
const SLICE_MS = 10;

/**
 * Has a page's timers count its own running time: one of 6 s runs out after 600 turns of 10 ms, however long the machine takes for
 * a turn. What a test does within the time of a toast, of an undo or of a pause in typing stays within it on a busy machine.
 */
export function countRunningTime() {
  const wait = globalThis.setTimeout;
  const inSlices = (callback: (...parts: unknown[]) => void, milliseconds = 0, ...parts: unknown[]) => {
    if (!(milliseconds >= SHORTEST_MS)) return wait(callback, milliseconds, ...parts);
    let left = milliseconds;
    const timer = wait(
      () => {
        left -= SLICE_MS;
        if (left > 0) timer.refresh();
        else callback(...parts);
      },
      Math.min(SLICE_MS, left),
    );
    return timer;
  };
  globalThis.setTimeout = inSlices as typeof setTimeout;
}
