import { local, STORAGE_KEYS, session } from '@liaozhai/shared/runtime';
import { useEffect, useRef, useState } from 'react';

/** Counts who comes and goes on this device, for the screens that must not show what they held for somebody else. */
export interface Visitor {
  /** grows when another user than the last one signs in: every screen is mounted anew */
  arrivals: number;
  /** grows when a session ends: screens out of sight are dropped, the one in sight shows itself as a guest's */
  departures: number;
}

const currentId = () => {
  const now = session.current();
  return now.status === 'member' ? now.user.id : null;
};

/** A session that only ran out leaves its owner's mark, for the same person's return. */
const isLoggedOut = () => local.get(STORAGE_KEYS.owner) === null;

/** `forget` lets go of what is kept outside of React: after a log-out, and when somebody else signs in. */
export function useVisitor(forget: () => void): Visitor {
  const [visitor, setVisitor] = useState<Visitor>({ arrivals: 0, departures: 0 });
  const last = useRef<string | null>(null);
  useEffect(() => {
    last.current ??= currentId();
    return session.onUserChanged((previous, id) => {
      const isOther = id !== null && last.current !== null && id !== last.current;
      const isGone = id === null && previous !== null;
      last.current = id ?? last.current;
      if (isOther) {
        forget();
        setVisitor((known) => ({ ...known, arrivals: known.arrivals + 1 }));
      }
      if (isGone && isLoggedOut()) forget();
      if (isGone) setVisitor((known) => ({ ...known, departures: known.departures + 1 }));
    });
  }, [forget]);
  return visitor;
}
