import { session } from '@liaozhai/shared/runtime';
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

/** `onOther` forgets what is kept outside of React. */
export function useVisitor(onOther: () => void): Visitor {
  const [visitor, setVisitor] = useState<Visitor>({ arrivals: 0, departures: 0 });
  const last = useRef<string | null>(null);
  useEffect(() => {
    last.current ??= currentId();
    return session.onUserChanged((previous, id) => {
      const isOther = id !== null && last.current !== null && id !== last.current;
      const isGone = id === null && previous !== null;
      last.current = id ?? last.current;
      if (isOther) {
        onOther();
        setVisitor((known) => ({ ...known, arrivals: known.arrivals + 1 }));
      }
      if (isGone) setVisitor((known) => ({ ...known, departures: known.departures + 1 }));
    });
  }, [onOther]);
  return visitor;
}
