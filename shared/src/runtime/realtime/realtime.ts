import { useSyncExternalStore } from 'react';
import { socketIdChanged } from '../client/socketId';
import { createEmitter } from '../emitter';
import { hostConfig } from '../hostConfig';
import { session } from '../session/session';
import { createEcho, type ReverbEcho } from './connection';

export type RealtimeStatus = 'off' | 'connecting' | 'live' | 'waiting';

const firstDelayMs = 500;
const longestDelayMs = 5_000;

const statusChanged = createEmitter();
const caughtUpNeeded = createEmitter();
const listeners = new Map<string, Set<(payload: never) => void>>();

let status: RealtimeStatus = 'off';
let echo: ReverbEcho | null = null;
let generation = 0;
let attempts = 0;
let retry: ReturnType<typeof setTimeout> | undefined;

function become(next: RealtimeStatus) {
  if (status === next) return;
  status = next;
  statusChanged.emit();
}

const channelName = (id: string) =>
  (hostConfig().realtime.channel ?? 'App.Models.User.{id}').replace(/^private-/, '').replace('{id}', id);

function dispatch(event: string, payload: unknown) {
  for (const handler of [...(listeners.get(event) ?? [])]) handler(payload as never);
}

function close() {
  generation += 1;
  clearTimeout(retry);
  echo?.disconnect();
  echo = null;
  socketIdChanged(undefined);
}

/** Full jitter, so that a restarted server is not met by everyone at once. */
const delayMs = () =>
  firstDelayMs + Math.random() * Math.min(longestDelayMs - firstDelayMs, firstDelayMs * 2 ** attempts);

/** A dropped, refused or stranded connection is thrown away and built anew: pusher-js alone waits up to a minute, or for ever. */
function tryAgain() {
  if (status === 'off') return;
  close();
  become('waiting');
  retry = setTimeout(() => void open(), delayMs());
  attempts += 1;
}

function follow(connection: ReverbEcho, userId: string) {
  const mine = generation;
  const current = () => mine === generation;
  const { pusher } = connection.connector;
  pusher.connection.bind('state_change', ({ current: state }: { current: string }) => {
    if (
      current() &&
      (state === 'unavailable' ||
        state === 'failed' ||
        state === 'disconnected' ||
        (state === 'connecting' && status === 'live'))
    )
      tryAgain();
  });
  pusher.connection.bind('error', () => current() && tryAgain());
  const channel = connection.private(channelName(userId));
  channel.subscribed(() => {
    if (!current()) return;
    attempts = 0;
    become('live');
    caughtUpNeeded.emit();
  });
  channel.error(() => current() && tryAgain());
  channel.listenToAll((event: string, payload: unknown) => dispatch(event.replace(/^\.|^App\\Events\\/, ''), payload));
}

async function open() {
  const now = session.current();
  if (now.status !== 'member' || listeners.size === 0) return become('off');
  close();
  const mine = generation;
  become('connecting');
  const created = await createEcho().catch(() => null);
  if (mine !== generation) return created?.disconnect();
  if (!created) return tryAgain();
  echo = created;
  follow(created, now.user.id);
}

function nudge() {
  if (document.visibilityState === 'hidden' || !navigator.onLine) return;
  if (status === 'waiting') void open();
  if (status !== 'off') caughtUpNeeded.emit();
}

for (const event of ['online', 'pageshow'] as const) window.addEventListener(event, nudge);
document.addEventListener('visibilitychange', nudge);

session.onUserChanged(() => {
  close();
  attempts = 0;
  become('off');
  void open();
});

/** Hears one event of the signed-in user's channel. The socket opens with the first listener and closes after the last. */
export function listen<Payload>(event: string, handler: (payload: Payload) => void): () => void {
  const heard = handler as (payload: never) => void;
  const handlers = listeners.get(event) ?? new Set();
  listeners.set(event, handlers.add(heard));
  if (status === 'off') void open();
  return () => {
    handlers.delete(heard);
    if (handlers.size === 0) listeners.delete(event);
    if (listeners.size > 0) return;
    close();
    become('off');
  };
}

/** Fires whenever something may have been missed: subscribed (again), visible, back online. Fetch what changed since. */
export const onCaughtUpNeeded = (handler: () => void) => caughtUpNeeded.on(handler);

export const useRealtimeStatus = () => useSyncExternalStore(statusChanged.on, () => status);
