import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { inSpan } from '@liaozhai/telemetry/tracing';
import { Hono } from 'hono';
import { presentMessage } from '../chat/presentMessage.ts';
import { query } from '../db/database.ts';
import type { MessageRow } from '../db/schema.ts';
import { type AppEnv, forbidden, identityOf, userOf } from '../http/http.ts';
import { codePoints, readInput } from '../http/input.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findUser, presentUser } from '../users/user.ts';

const userChannel = (userId: string): string => `private-App.Models.User.${userId}`;

/** As PHP's `json_encode` writes it: everything beyond ASCII escaped per UTF-16 unit, and slashes. */
const phpJson = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/\//g, '\\/')
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Bytes of the request in which Laravel's broadcaster sends an event: the data is JSON within JSON, escaped twice. */
function broadcastBytes(userId: string, event: string, data: object): number {
  return phpJson({ name: event, data: phpJson(data), channels: [userChannel(userId)] }).length;
}

const fits = (userId: string, event: string, data: object): boolean =>
  broadcastBytes(userId, event, data) <= rules.eventBytes;

/** Tells all of a user's sockets, once the surrounding transaction is on disk. */
export function tell({ db, broadcaster, counters, log }: Services, userId: string, event: string, data: object): void {
  db.afterCommit(() => {
    counters?.events.inc({ event });
    const publish = () => broadcaster.publish(userChannel(userId), event, data);
    // a reply comes in hundreds of pieces, and has a span of its own
    if (event === 'message.delta') return publish();
    log.debug({ event, user: userId }, 'told');
    inSpan(`broadcast ${event}`, {}, publish);
  });
}

type MessageEvent = 'message.created' | 'message.completed' | 'message.failed';

/**
 * The whole message; one too long for a frame travels without its body, which the client then fetches by version. A
 * `last_seq` says that all messages after it are gone.
 */
export function announceMessage(
  services: Services,
  event: MessageEvent,
  row: MessageRow,
  cut: { last_seq?: number } = {},
): void {
  const message = presentMessage(row);
  const head = { conversation_id: row.conversation_id, version: row.version, ...cut };
  const full = { ...head, message };
  if (fits(row.user_id, event, full)) {
    tell(services, row.user_id, event, full);
  } else {
    const { body, ...short } = message;
    const cut = { ...short, body_length: codePoints(body) };
    tell(services, row.user_id, event, { ...head, message: cut, truncated: true });
  }
}

export function announceBalance(services: Services, userId: string): void {
  services.db.afterCommit(() => {
    const user = services.db.first(query.selectFrom('users').select(['balance', 'version']).where('id', '=', userId));
    if (user) tell(services, userId, 'balance.updated', user);
  });
}

/** The whole user; a persona too long for a frame stays out of it, and what clients know of it stays as it is. */
export function announceUser(services: Services, userId: string): void {
  services.db.afterCommit(() => {
    const user = presentUser(findUser(services, userId), services.clock());
    const full = { user, version: user.version };
    const { persona, ...short } = user;
    tell(services, userId, 'user.updated', fits(userId, 'user.updated', full) ? full : { ...full, user: short });
  });
}

/** Has every page of the user ask whether its session may still listen, which those of the ended one may not. */
export function announceSessionEnd(services: Services, userId: string): void {
  tell(services, userId, 'session.ended', {});
}

/** What it has to do right now. */
export interface BroadcasterLoad {
  /** open sockets of this server's own */
  sockets: number;
  /** events that wait to be sent on */
  waiting: number;
  /** events since the start that were not taken */
  lost: number;
}

/** What carries events to the pages: sockets of this server's own, or a Reverb. */
export interface Broadcaster {
  /** Key and signature, as a page shows them to join a channel. The session that asked for it may come to an end before the socket. */
  sign(text: string, sessionHash: string): string;
  /** Sends an event to everyone on a channel, after those of earlier calls. Never throws, never makes its caller wait. */
  publish(channel: string, event: string, data: object): void;
  /** Closes the sockets that joined by a signature of an ended session, where that is in its power. */
  closeSession(sessionHash: string): void;
  /** Takes over a request for a socket; left out where sockets are somebody else's. */
  upgrade?(request: IncomingMessage, stream: Duplex, head: Buffer): void;
  load(): BroadcasterLoad;
  /** Closes everything within half a second. */
  close(): Promise<void>;
}

const isSocketId = (value: unknown): value is string => typeof value === 'string' && /^\d{1,10}\.\d{1,10}$/.test(value);

/** Signs what a socket may listen to: the user's own channel and nothing else. */
export function broadcastRoutes(services: Services): Hono<AppEnv> {
  const { broadcaster } = services;
  return new Hono<AppEnv>()
    .post('/auth', (c) => {
      const user = userOf(c);
      const { socket_id, channel_name } = readInput(c);
      if (!isSocketId(socket_id) || channel_name !== userChannel(user.id)) throw forbidden();
      return c.json({ auth: broadcaster.sign(`${socket_id}:${channel_name}`, identityOf(c).sessionHash) });
    })
    .post('/user-auth', (c) => {
      const user = userOf(c);
      const { socket_id } = readInput(c);
      if (!isSocketId(socket_id)) throw forbidden();
      const user_data = JSON.stringify({ id: user.id, user_info: { name: user.name } });
      return c.json({
        auth: broadcaster.sign(`${socket_id}::user::${user_data}`, identityOf(c).sessionHash),
        user_data,
      });
    });
}
