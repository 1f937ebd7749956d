import { useSyncExternalStore } from 'react';
import type { GenericSchema, InferOutput } from 'valibot';
import { anyPayload, userEventSchema } from '../../contract';
import { stopAll } from '../../format/browser';
import { decode } from '../client/decode';
import { network, socketId } from '../client/request';
import { retryPolicy } from '../retryPolicy';
import { session } from '../session/session';
import { createCell, createSignal } from '../signal';
import { type Nudge, type OpenLink, type RealtimeStatus, Supervisor } from './supervisor';

const SESSION_ENDED = 'session.ended';
const CONVERSATION_DELETED = 'conversation.deleted';
const CLOSE_AFTER_MS = 1000;
/** a phone that wakes fires `visibilitychange`, `pageshow` and `online` within this time */
const NUDGE_BUNCH_MS = 1000;
/** delay of the catch-up after dropped events, one for all events in this time */
const DROPPED_BUNCH_MS = 5000;

const memberId = (): string | null => {
  const current = session.current();
  return current.status === 'member' ? current.user.id : null;
};

/** Passes updates of the user to the session before any other listener runs. */
function applyUserPatch(event: string, payload: unknown) {
  if (event !== 'balance.updated' && event !== 'user.updated') return;
  const patch = decode(userEventSchema, payload, event);
  if (patch) session.userPatched(patch);
}

/** Shares one connection among all listeners: open while a member is signed in and at least one listener exists. */
function createRealtime() {
  const handlers = new Map<string, Set<{ handle: (payload: unknown) => void }>>();
  const status = createCell<RealtimeStatus>('off');
  const catchUpNeeded = createSignal();
  const listenerAdded = createSignal<[event: string]>();
  /** ids of conversations */
  const deletedConversations = new Set<string>();

  let lastNudge = Number.NEGATIVE_INFINITY;
  let cancelDroppedCatchUp: (() => void) | null = null;
  let connection: { userId: string; supervisor: Supervisor } | null = null;
  let openLink: OpenLink = async (userId, events) => {
    const { EchoLink } = await import(/* webpackChunkName: "realtime" */ './echoLink');
    return new EchoLink({ userId, events });
  };

  /** Events may arrive out of order: a late reply would restore the deleted conversation. */
  function isForDeletedConversation(event: string, payload: unknown): boolean {
    const { id, conversation_id, message, conversation } = Object(payload);
    const isDeletion = event === CONVERSATION_DELETED;
    const conversationId = isDeletion ? id : (conversation_id ?? message?.conversation_id ?? conversation?.id);
    if (isDeletion && conversationId) deletedConversations.add(String(conversationId));
    return !isDeletion && deletedConversations.has(String(conversationId));
  }

  function deliver(rawName: string, payload: unknown) {
    const event = toEventName(rawName);
    if (event === SESSION_ENDED) connection?.supervisor.sessionEnded();
    applyUserPatch(event, payload);
    if (isForDeletedConversation(event, payload)) return;
    for (const { handle } of [...(handlers.get(event) ?? [])]) handle(payload);
  }

  function createSupervisor(userId: string): Supervisor {
    return new Supervisor({
      openLink: (events) => openLink(userId, events),
      onEvent: deliver,
      turn: retryPolicy.turn,
      onStatus(next, socket) {
        if (status.current() === 'live' && next === 'waiting') network.recordFailure();
        status.set(next);
        socketId.set(socket);
        if (next === 'live') catchUpNeeded.emit();
      },
    });
  }

  /** Opens, closes or replaces the connection to match the signed-in user and the listeners. */
  function updateConnection() {
    const id = memberId();
    const targetUserId = handlers.size > 0 ? id : null;
    if (connection && connection.userId !== targetUserId) {
      connection.supervisor.stop();
      connection = null;
    }
    if (!connection && targetUserId !== null) {
      connection = { userId: targetUserId, supervisor: createSupervisor(targetUserId) };
      connection.supervisor.start();
    }
  }

  /** A dropped event may have been a change that no later event repeats. */
  function handleDropped(event: string) {
    console.warn(`an event ${event} of another shape was dropped`);
    cancelDroppedCatchUp ??= retryPolicy.after(DROPPED_BUNCH_MS, () => {
      cancelDroppedCatchUp = null;
      if (memberId() !== null) catchUpNeeded.emit();
    });
  }

  /** Subscribes to one event of the signed-in user's channel; drops a payload that `schema` refuses. Returns the unsubscribe function. */
  function listen<Schema extends GenericSchema>(
    event: string,
    schema: Schema,
    handler: (payload: InferOutput<Schema>) => void,
  ): () => void {
    const entry = {
      handle: (payload: unknown) => {
        const decoded = decode(schema, payload, event);
        if (decoded !== undefined) handler(decoded);
        else handleDropped(event);
      },
    };
    const listeners = handlers.get(event) ?? new Set();
    handlers.set(event, listeners.add(entry));
    updateConnection();
    listenerAdded.emit(event);
    return () => {
      if (!listeners.delete(entry) || listeners.size > 0) return;
      if (handlers.get(event) === listeners) handlers.delete(event);
      // closes after the last listener, unless the next one is just subscribing
      if (handlers.size === 0) setTimeout(updateConnection, CLOSE_AFTER_MS);
    };
  }

  /** Subscribes to possible gaps: joined (again), visible, `pageshow`, `online`, unreadable events. Returns the unsubscribe function. */
  const onCaughtUpNeeded = (handler: () => void): (() => void) => catchUpNeeded.on(handler);

  /**
   * Keeps the user's balance and profile current while signed in, also where no page listens. The host calls it after the first
   * screen has rendered. Returns the unsubscribe function.
   */
  function followUser(): () => void {
    let hasCaughtUp = false;
    const stops = ['balance.updated', 'user.updated'].map((event) => listen(event, anyPayload, () => {}));
    const stopCatchingUp = onCaughtUpNeeded(() => {
      // when the socket first joins, the host has usually just loaded the user
      if (hasCaughtUp || status.current() !== 'live' || !session.isFresh()) void session.refresh();
      hasCaughtUp = true;
    });
    return stopAll(...stops, stopCatchingUp);
  }

  const useRealtimeStatus = (): RealtimeStatus => useSyncExternalStore(status.on, status.current);

  function nudge(reason: Nudge) {
    connection?.supervisor.nudge(reason);
    const now = performance.now();
    if (memberId() === null || now - lastNudge < NUDGE_BUNCH_MS) return;
    lastNudge = now;
    catchUpNeeded.emit();
  }

  /** Makes the next nudge trigger a catch-up, however soon it follows. */
  function startBunch() {
    lastNudge = Number.NEGATIVE_INFINITY;
  }

  session.onUserChanged(updateConnection);

  // a synthetic event means that the server responds again, not that it accepts a socket that it refused
  window.addEventListener('online', ({ isTrusted }) => nudge(isTrusted ? 'network' : 'attention'));
  window.addEventListener('offline', startBunch);
  window.addEventListener('pageshow', (event) => event.persisted && nudge('attention'));
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') nudge('attention');
    else startBunch();
  });

  /** For tests: replaces the link and observes the listeners. */
  const edge = {
    replaceLink(replacement: OpenLink): () => void {
      const previousLink = openLink;
      openLink = replacement;
      return () => {
        openLink = previousLink;
      };
    },
    hasListener: (event: string): boolean => event === SESSION_ENDED || handlers.has(event),
    onListenerAdded: listenerAdded.on,
    nudge,
    reset() {
      handlers.clear();
      deletedConversations.clear();
      cancelDroppedCatchUp?.();
      cancelDroppedCatchUp = null;
      updateConnection();
      startBunch();
    },
  };

  return { listen, onCaughtUpNeeded, followUser, useRealtimeStatus, edge };
}

const realtime = createRealtime();

export const { listen, onCaughtUpNeeded, followUser, useRealtimeStatus, edge: realtimeEdge } = realtime;

/** Returns the name as in `broadcastAs`; also converts a class name such as `App\Events\MessageCreated`. */
export function toEventName(rawName: string): string {
  // Echo removes its own namespace and prefixes other names with a dot
  const name = rawName.replace(/^\./, '').replace(/^.*\\/, '');
  return /^[A-Z]/.test(name) ? name.replace(/\B[A-Z]/g, '.$&').toLowerCase() : name;
}
