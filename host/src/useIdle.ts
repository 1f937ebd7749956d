import { useEffect, useState } from 'react';

const latestMs = 5000;

/** Turns true once the first screen is drawn and the browser has nothing better to do. */
export function useIdle(): boolean {
  const [idle, setIdle] = useState(false);
  useEffect(() => {
    const act = () => setIdle(true);
    if (!('requestIdleCallback' in window)) {
      const timer = setTimeout(act, latestMs / 4);
      return () => clearTimeout(timer);
    }
    const handle = requestIdleCallback(act, { timeout: latestMs });
    return () => cancelIdleCallback(handle);
  }, []);
  return idle;
}
