import { useEffect, useState } from 'react';

const EXIT_MILLISECONDS = 260;

/** Whether to keep drawing what is closing: true while `open` and until the exit motion is over. */
export function usePresence(open: boolean): boolean {
  const [present, setPresent] = useState(open);
  if (open && !present) setPresent(true);
  useEffect(() => {
    if (open || !present) return;
    const timer = setTimeout(() => setPresent(false), EXIT_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [open, present]);
  return open || present;
}
