import { useSyncExternalStore } from 'react';
import type { GenericSchema, InferOutput } from 'valibot';
import { anyPayload, userEventSchema } from '../../contract';
import { decode } from '../client/decode';
import { network, socketId } from '../client/request';
import { retryPolicy } from '../retryPolicy';
import { session } from '../session/session';
import { createSignal } from '../signal';
import { type Nudge, type OpenLink, type RealtimeStatus, Supervisor } from './supervisor';

/** handled by the connection itself */
const SESSION_ENDED = 'session.ended';
const CONVERSATION_DELETED = 'conversation.deleted';
const CLOSE_AFTER_MS = 1000;
/** visible, pageshow and online come in one bunch when a phone wakes */
const BUNCH_MS = 1000;

const memberId = (): string | null => {
  const current = session.current();
  return current.status === 'member' ? current.user.id : null;
};

/** What the server sends about the user goes to the session before any other listener. */
function takeUser(event: string, payload: unknown) {
  if (event !== 'balance.updated' && event !== 'user.updated') return;
  const patch = decode(userEventSchema, payload, event);
  if (patch) session.userPatched(patch);
}

/** One connection for everyone who listens: open while a member is signed in and somebody listens. */
function createRealtime() {
  const handlers = new Map<string, Set<{ handle: (payload: unknown) => void }>>();
  const statusChanged = createSignal();
  const catchUp = createSignal();
  const listened = createSignal<[event: string]>();
  /** ids of conversations */
  const deleted = new Set<string>();

  let status: RealtimeStatus = 'off';
  let lastNudge = Number.NEGATIVE_INFINITY;
  let open: { userId: string; supervisor: Supervisor } | null = null;
  let openLink: OpenLink = async (userId, events) => {
    const { EchoLink } = await import(/* webpackChunkName: "realtime" */ './echoLink');
    return new EchoLink({ userId, events });
  };

  /** Queues of a server overtake each other: a reply that ends late would bring its deleted conversation back. */
  function isOfDeleted(event: string, payload: unknown): boolean {
    const { id, conversation_id, message, conversation } = Object(payload);
    const isDeletion = event === CONVERSATION_DELETED;
    const about = isDeletion ? id : (conversation_id ?? message?.conversation_id ?? conversation?.id);
    if (isDeletion && about) deleted.add(String(about));
    return !isDeletion && deleted.has(String(about));
  }

  function deliver(heard: string, payload: unknown) {
    const event = toEventName(heard);
    if (event === SESSION_ENDED) open?.supervisor.sessionEnded();
    takeUser(event, payload);
    if (isOfDeleted(event, payload)) return;
    for (const { handle } of [...(handlers.get(event) ?? [])]) handle(payload);
  }

  function supervise(userId: string): Supervisor {
    return new Supervisor({
      openLink: (events) => openLink(userId, events),
      onEvent: deliver,
      turn: retryPolicy.turn,
      onStatus(next, socket) {
        if (status === 'live' && next === 'waiting') network.doubted();
        status = next;
        socketId.set(socket);
        statusChanged.emit();
        if (next === 'live') catchUp.emit();
      },
    });
  }

  /** Opens, closes or rebuilds the connection as who is signed in and who listens demand. */
  function adjust() {
    const id = memberId();
    const wanted = handlers.size > 0 ? id : null;
    if (open && open.userId !== wanted) {
      open.supervisor.stop();
      open = null;
    }
    if (!open && wanted !== null) {
      open = { userId: wanted, supervisor: supervise(wanted) };
      open.supervisor.start();
    }
  }

  /** Subscribes to one event of the signed-in user's channel; a payload that `schema` refuses is dropped. Returns the way to stop. */
  function listen<Schema extends GenericSchema>(
    event: string,
    schema: Schema,
    handler: (payload: InferOutput<Schema>) => void,
  ): () => void {
    const entry = {
      handle: (payload: unknown) => {
        const decoded = decode(schema, payload, event);
        if (decoded !== undefined) handler(decoded);
        else console.warn(`an event ${event} of another shape was dropped`);
      },
    };
    const hearers = handlers.get(event) ?? new Set();
    handlers.set(event, hearers.add(entry));
    adjust();
    listened.emit(event);
    return () => {
      if (!hearers.delete(entry) || hearers.size > 0) return;
      if (handlers.get(event) === hearers) handlers.delete(event);
      // the connection closes with its last listener, unless the next is just coming
      if (handlers.size === 0) setTimeout(adjust, CLOSE_AFTER_MS);
    };
  }

  /** Calls when something may have been missed: joined (again), visible, pageshow, online. Returns the way to stop. */
  const onCaughtUpNeeded = (handler: () => void): (() => void) => catchUp.on(handler);

  /**
   * Keeps the user's balance and profile current while signed in, also where no page listens.
   * The host calls it once the first screen stands. Returns the way to stop.
   */
  function followUser(): () => void {
    let hasCaughtUp = false;
    const stops = ['balance.updated', 'user.updated'].map((event) => listen(event, anyPayload, () => {}));
    const stopCatchingUp = onCaughtUpNeeded(() => {
      // most often the host has just asked when the socket is joined for the first time
      if (hasCaughtUp || status !== 'live' || !session.isFresh()) void session.refresh();
      hasCaughtUp = true;
    });
    return () => {
      for (const stop of [...stops, stopCatchingUp]) stop();
    };
  }

  const useRealtimeStatus = (): RealtimeStatus => useSyncExternalStore(statusChanged.on, () => status);

  function nudge(by: Nudge) {
    open?.supervisor.nudge(by);
    const now = performance.now();
    if (memberId() === null || now - lastNudge < BUNCH_MS) return;
    lastNudge = now;
    catchUp.emit();
  }

  /** What is missed from here on belongs to the next bunch, however soon it comes. */
  function startBunch() {
    lastNudge = Number.NEGATIVE_INFINITY;
  }

  session.onUserChanged(adjust);

  if (typeof window !== 'undefined') {
    // one of our own means that the server answers again, which says nothing new of a socket that it refuses
    window.addEventListener('online', ({ isTrusted }) => nudge(isTrusted ? 'network' : 'attention'));
    window.addEventListener('offline', startBunch);
    window.addEventListener('pageshow', (event) => event.persisted && nudge('attention'));
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') nudge('attention');
      else startBunch();
    });
  }

  /** For tests: another link, and a look at who listens. */
  const edge = {
    replaceLink(replacement: OpenLink): () => void {
      const former = openLink;
      openLink = replacement;
      return () => {
        openLink = former;
      };
    },
    isHeard: (event: string): boolean => event === SESSION_ENDED || handlers.has(event),
    onListened: listened.on,
    nudge,
    /** Removes every listener and closes the connection. */
    reset() {
      handlers.clear();
      deleted.clear();
      adjust();
      startBunch();
    },
  };

  return { listen, onCaughtUpNeeded, followUser, useRealtimeStatus, edge };
}

/** The page's one connection. */
const realtime = createRealtime();

export const { listen, onCaughtUpNeeded, followUser, useRealtimeStatus, edge: realtimeEdge } = realtime;

/** The name as `broadcastAs` gives it, also of an event that comes by its class: `App\Events\MessageCreated`. */
export function toEventName(heard: string): string {
  // Echo takes its own namespace off, and puts a dot before everything else
  const name = heard.replace(/^\./, '').replace(/^.*\\/, '');
  return /^[A-Z]/.test(name) ? name.replace(/\B[A-Z]/g, '.$&').toLowerCase() : name;
}
