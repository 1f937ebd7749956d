const LATEST_MS = 100;

/** Runs `work` once before the next paint, however often it is asked to; a hidden page, which does not paint, runs it soon. */
export function oncePerFrame(work: () => void): { ask(): void; stop(): void } {
  let frame: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = undefined;
    timer = undefined;
  };
  const run = () => {
    stop();
    work();
  };
  return {
    ask() {
      if (timer !== undefined) return;
      frame = requestAnimationFrame(run);
      timer = setTimeout(run, LATEST_MS);
    },
    stop,
  };
}
