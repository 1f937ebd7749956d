import { useEffect, useState } from 'react';

const MINUTE_MS = 60_000;

/** The time, epoch ms, told anew each minute for texts such as 5 分钟前, or as often as asked for. */
export function useNow(everyMs = MINUTE_MS): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
