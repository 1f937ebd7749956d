import { useEffect, useState } from 'react';

const secondMs = 1000;

/** Seconds left of a wait, and the way to start one. Goes by the clock, since timers sleep in the background. */
export function useCountdown(): [secondsLeft: number, start: (seconds: number) => void] {
  const [endsAt, setEndsAt] = useState(0);
  const [now, setNow] = useState(0);
  const running = endsAt > now;
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), secondMs);
    return () => clearInterval(timer);
  }, [running]);
  const start = (seconds: number) => {
    setNow(Date.now());
    setEndsAt(Date.now() + seconds * secondMs);
  };
  return [running ? Math.ceil((endsAt - now) / secondMs) : 0, start];
}
