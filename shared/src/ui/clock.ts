import { useEffect, useState } from 'react';
import { CLOCK_CORRECTED, serverNow } from '../contract/clock';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../contract/units';
import { dayKey } from '../format/time';

const SHANGHAI_MS = 8 * HOUR_MS;

/** Current day in Shanghai, `2026-11-21`; changes at midnight there, also after the device has slept. */
export function useShanghaiDay(): string {
  const [day, setDay] = useState(() => dayKey(serverNow()));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const look = () => {
      clearTimeout(timer);
      setDay(dayKey(serverNow()));
      // one second late, so that a rounded clock does not show the old day
      timer = setTimeout(look, DAY_MS - ((serverNow() + SHANGHAI_MS) % DAY_MS) + 1000);
    };
    look();
    document.addEventListener('visibilitychange', look);
    window.addEventListener(CLOCK_CORRECTED, look);
    return () => {
      clearTimeout(timer);
      window.removeEventListener(CLOCK_CORRECTED, look);
      document.removeEventListener('visibilitychange', look);
    };
  }, []);
  return day;
}

/** The server's time in ms since the epoch, updated each minute for texts such as 5 分钟前. */
export function useNow(): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const look = () => setNow(serverNow());
    look();
    const timer = setInterval(look, MINUTE_MS);
    window.addEventListener(CLOCK_CORRECTED, look);
    return () => {
      clearInterval(timer);
      window.removeEventListener(CLOCK_CORRECTED, look);
    };
  }, []);
  return now;
}

/** Returns a function for the seconds left. Sleep of the device counts, and setting its clock back does not extend the wait. */
function beginWait(seconds: number): () => number {
  const began = { at: Date.now(), running: performance.now() };
  return () => {
    const passed = Math.max(Date.now() - began.at, performance.now() - began.running);
    return Math.max(0, Math.ceil(seconds - passed / SECOND_MS));
  };
}

/** Whole seconds left of a wait that starts with `firstSeconds`, and a function that starts another. */
export function useCountdown(firstSeconds: () => number): [secondsLeft: number, start: (seconds: number) => void] {
  const [wait, setWait] = useState(() => beginWait(firstSeconds()));
  const [left, setLeft] = useState(wait);
  const isOver = left === 0;
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => setLeft(wait), SECOND_MS);
    return () => clearInterval(timer);
  }, [wait, isOver]);
  const start = (seconds: number) => {
    const next = beginWait(seconds);
    setWait(() => next);
    setLeft(next);
  };
  return [left, start];
}
