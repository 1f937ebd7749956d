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
  let joinedEvents: LinkEvents | null = null;
  let pendingEvents: { event: string; payload: unknown }[] = [];

  const flush = () => {
    const deliverable = joinedEvents ? pendingEvents.filter(({ event }) => realtimeEdge.hasListener(event)) : [];
    pendingEvents = pendingEvents.filter((item) => !deliverable.includes(item));
    if (deliverable.length === 0) return;
    act(() => {
      for (const { event, payload } of deliverable) joinedEvents?.onEvent(`.${event}`, payload);
    });
  };

  const restoreLink = realtimeEdge.replaceLink((_, events) => ({
    connect: () => queueMicrotask(() => (isUp ? events.onOpen('1.1') : events.onClose('unreachable'))),
    disconnect: () => {
      joinedEvents = null;
    },
    join: () =>
      queueMicrotask(() => {
        joinedEvents = events;
        act(() => events.onJoined());
        flush();
      }),
    ping: () => events.onActivity(),
    reauthorize: () => {
      reauthorizations += 1;
    },
  }));
  const stopListening = realtimeEdge.onListenerAdded(() => queueMicrotask(flush));

  const live: Live = {
    push(event, payload) {
      pendingEvents.push({ event, payload });
      flush();
    },
    drop() {
      isUp = false;
      pendingEvents = [];
      const brokenLink = joinedEvents;
      joinedEvents = null;
      act(() => brokenLink?.onClose('unreachable'));
    },
    restore() {
      isUp = true;
      act(() => realtimeEdge.nudge('network'));
    },
    reauthorizations: () => reauthorizations,
  };
  const restore = () => {
    stopListening();
    restoreLink();
  };
  return { live, restore };
}
