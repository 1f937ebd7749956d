import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Hono } from 'hono';
import { type AppEnv, identityOf, userOf } from '../http/http.ts';
import { forbidden } from '../http/httpError.ts';
import { readInput } from '../http/input.ts';
import type { Services } from '../services.ts';
import { userChannel } from './events.ts';

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
  /** Key and signature, as a page shows them to join a channel. */
  sign(text: string): string;
  /** Sends an event to everyone on a channel, after those of earlier calls. Never throws, never makes its caller wait. */
  publish(channel: string, event: string, data: object): void;
  /** Remembers which session vouched for a socket. */
  bindSession(socketId: string, sessionHash: string): void;
  /** Closes the sockets that an ended session vouched for, where that is in its power. */
  closeSession(sessionHash: string): void;
  /** Takes over an HTTP upgrade, or refuses it. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void;
  load(): BroadcasterLoad;
  /** Closes everything within half a second. */
  close(): Promise<void>;
}

export function refuseUpgrade(stream: Duplex): void {
  stream.on('error', () => stream.destroy());
  stream.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
}

const isSocketId = (value: unknown): value is string => typeof value === 'string' && /^\d{1,10}\.\d{1,10}$/.test(value);

/** Signs what a socket may listen to: the user's own channel and nothing else. */
export function broadcastRoutes(services: Services): Hono<AppEnv> {
  const { broadcaster } = services;
  return new Hono<AppEnv>()
    .post('/auth', async (c) => {
      const user = userOf(c);
      const { socket_id, channel_name } = await readInput(c);
      if (!isSocketId(socket_id) || channel_name !== userChannel(user.id)) throw forbidden();
      broadcaster.bindSession(socket_id, identityOf(c).sessionHash);
      return c.json({ auth: broadcaster.sign(`${socket_id}:${channel_name}`) });
    })
    .post('/user-auth', async (c) => {
      const user = userOf(c);
      const { socket_id } = await readInput(c);
      if (!isSocketId(socket_id)) throw forbidden();
      const user_data = JSON.stringify({ id: user.id, user_info: { name: user.name } });
      return c.json({ auth: broadcaster.sign(`${socket_id}::user::${user_data}`), user_data });
    });
}
