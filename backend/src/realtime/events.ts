import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { inSpan } from '@liaozhai/telemetry/tracing';
import { Hono } from 'hono';
import { presentMessage } from '../chat/presentMessage.ts';
import type { MessageRow } from '../db/schema.ts';
import { type AppEnv, forbidden, identityOf, userOf } from '../http/http.ts';
import { countCodePoints, readInput } from '../http/input.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findUser, presentUser } from '../users/user.ts';

const userChannel = (userId: string): string => `private-App.Models.User.${userId}`;

/** Serializes like PHP's `json_encode`, which escapes slashes and each UTF-16 unit beyond ASCII. */
const phpJson = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/\//g, '\\/')
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Whether Laravel's broadcast request is short enough: its data is JSON within JSON, escaped twice. */
const fits = (userId: string, event: string, data: object): boolean =>
  phpJson({ name: event, data: phpJson(data), channels: [userChannel(userId)] }).length <= rules.eventBytes;

/** Sends an event to all of a user's sockets once the surrounding transaction is committed. */
export function notifyUser(
  { db, broadcaster, counters, log }: Services,
  userId: string,
  event: string,
  data: object,
): void {
  db.afterCommit(() => {
    counters?.events.inc({ event });
    const publish = () => broadcaster.publish(userChannel(userId), event, data);
    // a reply has hundreds of deltas, which its own span covers
    if (event === 'message.delta') return publish();
    log.debug({ event, user: userId }, 'told');
    inSpan(`broadcast ${event}`, {}, publish);
  });
}

type MessageEvent = 'message.created' | 'message.completed' | 'message.failed';

/**
 * Sends a message. If it is too long for a frame, its body is left out and the client fetches it by version.
 * `last_seq` means that all messages after it were deleted.
 */
export function announceMessage(
  services: Services,
  event: MessageEvent,
  row: MessageRow,
  cut: { last_seq?: number } = {},
): void {
  const { user_id, conversation_id, version } = row;
  const full = { conversation_id, version, ...cut, message: presentMessage(row) };
  const { body, ...short } = full.message;
  const shortened = { ...full, message: { ...short, body_length: countCodePoints(body) }, truncated: true };
  notifyUser(services, user_id, event, fits(user_id, event, full) ? full : shortened);
}

export function announceBalance(services: Services, userId: string): void {
  services.db.afterCommit(() => {
    const user = services.db.find('users', { id: userId });
    if (user) notifyUser(services, userId, 'balance.updated', { balance: user.balance, version: user.version });
  });
}

/** Sends the user. A persona that is too long for a frame is left out, and clients do not change theirs. */
export function announceUser(services: Services, userId: string): void {
  services.db.afterCommit(() => {
    const user = presentUser(findUser(services, userId), services.clock());
    const full = { user, version: user.version };
    const { persona, ...short } = user;
    notifyUser(services, userId, 'user.updated', fits(userId, 'user.updated', full) ? full : { ...full, user: short });
  });
}

/** Sends events to the pages, through this server's own sockets or a Reverb server. */
export interface Broadcaster {
  /** Returns `key:signature`, with which a page subscribes to a channel on behalf of the session. */
  sign(text: string, sessionHash: string): string;
  /** Sends an event to all subscribers of a channel, in the order of the calls. Never throws and never blocks. */
  publish(channel: string, event: string, data: object): void;
  /** Closes the sockets that subscribed with a signature of an ended session, if the broadcaster can. */
  closeSession(sessionHash: string): void;
  /** Handles a request for a socket. Absent if another server has the sockets. */
  upgrade?(request: IncomingMessage, stream: Duplex, head: Buffer): void;
  /** Returns the open sockets of this server's own, and the events since the start that could not be delivered. */
  load(): { sockets: number; queuedEvents: number; lostEvents: number };
  /** Closes everything within half a second. */
  close(): Promise<void>;
}

const isSocketId = (value: unknown): value is string => typeof value === 'string' && /^\d{1,10}\.\d{1,10}$/.test(value);

/** Routes that sign subscriptions, only for the user's own channel. */
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
