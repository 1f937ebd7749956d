import { useEffect, useState } from 'react';
import { CLOCK_CORRECTED, serverNow } from '../contract/clock';
import { DAY_MS, MINUTE_MS, SECOND_MS, SHANGHAI_MS } from '../contract/waits';
import { listenTo, stopAll } from '../format/browser';
import { dayKey } from '../format/time';

/** Current day in Shanghai, `2026-11-21`; changes at midnight there, also after the device has slept. */
export function useShanghaiDay(): string {
  const [day, setDay] = useState(() => dayKey(serverNow()));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const update = () => {
      clearTimeout(timer);
      setDay(dayKey(serverNow()));
      // one second late, so that a rounded clock does not show the old day
      timer = setTimeout(update, DAY_MS - ((serverNow() + SHANGHAI_MS) % DAY_MS) + 1000);
    };
    update();
    return stopAll(
      () => clearTimeout(timer),
      listenTo(document, ['visibilitychange'], update),
      listenTo(window, [CLOCK_CORRECTED], update),
    );
  }, []);
  return day;
}

/**
 * The server's time in ms since the epoch, updated each minute for texts such as 5 分钟前. Also updated when one of `ends`, which
 * are ISO times, is over.
 */
export function useNow(ends: readonly (string | undefined)[] = []): number {
  const [now, setNow] = useState(serverNow);
  const end = Math.min(...ends.map((each) => Date.parse(each ?? '')).filter((each) => each > now));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const update = () => {
      clearTimeout(timer);
      setNow(serverNow());
      timer = setTimeout(update, Math.min(MINUTE_MS, Math.max(0, end - serverNow())));
    };
    update();
    return stopAll(() => clearTimeout(timer), listenTo(window, [CLOCK_CORRECTED], update));
  }, [end]);
  return now;
}

/** Returns a function for the seconds left. Sleep of the device counts, and setting its clock back does not extend the wait. */
function beginWait(seconds: number): () => number {
  const startTimes = { at: Date.now(), running: performance.now() };
  return () => {
    const passedMs = Math.max(Date.now() - startTimes.at, performance.now() - startTimes.running);
    return Math.max(0, Math.ceil(seconds - passedMs / SECOND_MS));
  };
}

/** Whole seconds left of a wait that starts with `firstSeconds`, and a function that starts another. */
export function useCountdown(firstSeconds: () => number): [secondsLeft: number, start: (seconds: number) => void] {
  const [wait, setWait] = useState(() => beginWait(firstSeconds()));
  const [secondsLeft, setSecondsLeft] = useState(wait);
  const isOver = secondsLeft === 0;
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => setSecondsLeft(wait), SECOND_MS);
    return () => clearInterval(timer);
  }, [wait, isOver]);
  const start = (seconds: number) => {
    const next = beginWait(seconds);
    setWait(() => next);
    setSecondsLeft(next);
  };
  return [secondsLeft, start];
}
