import { dayKey } from '@liaozhai/shared/format';
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

/** The day it is, as a key: looked at each minute and whenever the caller is drawn. */
export function useToday(): string {
  useNow();
  return dayKey(Date.now());
}
