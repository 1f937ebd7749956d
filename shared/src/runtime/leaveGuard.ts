import { useEffect, useRef } from 'react';

type Ask = () => Promise<boolean>;

const guards = new Set<Ask>();

const keepDocument = (event: BeforeUnloadEvent) => event.preventDefault();

function addGuard(ask: Ask): () => void {
  // kept only while needed: a page with this listener is barred from the back-forward cache
  if (guards.size === 0) window.addEventListener('beforeunload', keepDocument);
  guards.add(ask);
  return () => {
    guards.delete(ask);
    if (guards.size === 0) window.removeEventListener('beforeunload', keepDocument);
  };
}

export const isLeaveGuarded = (): boolean => guards.size > 0;

/** Asks everyone who guards unsaved work; true when all of them let go. The host's history asks before each navigation. */
export async function mayLeave(): Promise<boolean> {
  for (const ask of [...guards]) if (!(await ask())) return false;
  return true;
}

/** While `dirty`, `ask` is asked before any navigation in the app, back included; the browser asks before the document goes. */
export function useLeaveGuard(dirty: boolean, ask: Ask) {
  const latest = useRef(ask);
  useEffect(() => {
    latest.current = ask;
  });
  useEffect(() => (dirty ? addGuard(() => latest.current()) : undefined), [dirty]);
}
