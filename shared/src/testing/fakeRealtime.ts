import { act } from '@testing-library/react';
import { realtimeEdge } from '../runtime/realtime/realtime';
import type { LinkEvents } from '../runtime/realtime/supervisor';

export interface Live {
  /** Sends an event from the server; without a listener it waits for the first one. */
  push: (event: string, payload: unknown) => void;
  /** Breaks the socket, which cannot reopen until `restore`. */
  drop: () => void;
  restore: () => void;
  /** Number of re-authorisations by the page. */
  reauthorizations: () => number;
}

/** Replaces the socket below the real supervisor. */
export function fakeRealtime(): { live: Live; restore: () => void } {
  let isUp = true;
  let reauthorizations = 0;
  let joined: LinkEvents | null = null;
  let waiting: { event: string; payload: unknown }[] = [];

  const flush = () => {
    const ready = joined ? waiting.filter(({ event }) => realtimeEdge.isHeard(event)) : [];
    waiting = waiting.filter((item) => !ready.includes(item));
    if (ready.length === 0) return;
    act(() => {
      for (const { event, payload } of ready) joined?.onEvent(`.${event}`, payload);
    });
  };

  const undoLink = realtimeEdge.replaceLink((_, events) => ({
    connect: () => queueMicrotask(() => (isUp ? events.onOpen('1.1') : events.onClose('unreachable'))),
    disconnect: () => {
      joined = null;
    },
    join: () =>
      queueMicrotask(() => {
        joined = events;
        act(() => events.onJoined());
        flush();
      }),
    ping: () => events.onActivity(),
    reauthorize: () => {
      reauthorizations += 1;
    },
  }));
  const undoListened = realtimeEdge.onListened(() => queueMicrotask(flush));

  const live: Live = {
    push(event, payload) {
      waiting.push({ event, payload });
      flush();
    },
    drop() {
      isUp = false;
      waiting = [];
      const broken = joined;
      joined = null;
      act(() => broken?.onClose('unreachable'));
    },
    restore() {
      isUp = true;
      act(() => realtimeEdge.nudge('network'));
    },
    reauthorizations: () => reauthorizations,
  };
  const restore = () => {
    undoListened();
    undoLink();
  };
  return { live, restore };
}
