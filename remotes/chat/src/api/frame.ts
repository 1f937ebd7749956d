const LATEST_MS = 100;
/** Two frames' rest, so that every third at most is drawn: text that grows twenty times a second reads as well as at sixty, and the rest is for scrolling and typing. */
const REST_MS = 33;

/**
 * Runs `work` once before a paint, however often it is asked to: the next paint, or the first one after a rest since the
 * last run. A hidden page, which does not paint, runs it soon.
 */
export function oncePerFrame(work: () => void): { ask(): void; stop(): void } {
  let frame: number | undefined;
  let rest: ReturnType<typeof setTimeout> | undefined;
  let latest: ReturnType<typeof setTimeout> | undefined;
  let restedAt = 0;
  const stop = () => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    clearTimeout(rest);
    clearTimeout(latest);
    frame = rest = latest = undefined;
  };
  const run = () => {
    stop();
    restedAt = performance.now() + REST_MS;
    work();
  };
  const awaitFrame = () => {
    frame = requestAnimationFrame(run);
  };
  return {
    ask() {
      if (latest !== undefined) return;
      const restMs = restedAt - performance.now();
      if (restMs > 0) rest = setTimeout(awaitFrame, restMs);
      else awaitFrame();
      latest = setTimeout(run, LATEST_MS);
    },
    stop,
  };
}
