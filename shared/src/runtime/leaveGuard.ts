import { useEffect, useRef } from 'react';

type Ask = () => Promise<boolean>;

const guards = new Set<Ask>();

export const isLeaveGuarded = () => guards.size > 0;

/** Asks everyone with unsaved work, one after another; false as soon as one says no. */
export async function mayLeave(): Promise<boolean> {
  for (const ask of [...guards]) if (!(await ask())) return false;
  return true;
}

const askBrowser = (event: BeforeUnloadEvent) => event.preventDefault();

/** While `dirty`, any way out of the screen asks first: links, back, closing the tab. */
export function useLeaveGuard(dirty: boolean, ask: Ask) {
  const latest = useRef(ask);
  useEffect(() => {
    latest.current = ask;
  });
  useEffect(() => {
    if (!dirty) return;
    const guard = () => latest.current();
    guards.add(guard);
    window.addEventListener('beforeunload', askBrowser);
    return () => {
      guards.delete(guard);
      window.removeEventListener('beforeunload', askBrowser);
    };
  }, [dirty]);
}
