import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { isOwnOrigin, sourceOf } from '../http/origin.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { hmac, sameText } from '../signatures.ts';
import { Connection } from './hub.ts';

const activityTimeoutSeconds = 30;
const pingIntervalMs = 60_000;

const frame = z.object({
  event: z.string(),
  channel: z.string().optional(),
  data: z.unknown(),
});
const subscription = z.object({
  channel: z.string().min(1).max(200),
  auth: z.string().nullish(),
  channel_data: z.string().nullish(),
});
const unsubscription = subscription.pick({ channel: true });
const clientEvent = z.object({ event: z.string(), channel: z.string(), data: z.unknown() });

/** The Pusher protocol (v7) as Reverb speaks it, on `/app/{key}`. */
export class PusherServer {
  readonly #services: Services;
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: rules.frameBytes });
  readonly #pinger: NodeJS.Timeout;

  constructor(services: Services) {
    this.#services = services;
    this.#pinger = setInterval(() => this.#pingQuiet(), pingIntervalMs / 2).unref();
  }

  /** Takes over an HTTP upgrade; anything but `/app/…` is refused. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const encodedKey = /^\/app\/([^?]*)/.exec(request.url ?? '')?.[1];
    if (encodedKey === undefined) {
      stream.on('error', () => stream.destroy());
      stream.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
      return;
    }
    this.#sockets.handleUpgrade(request, stream, head, (socket) => this.#open(socket, request, encodedKey));
  }

  close(): void {
    clearInterval(this.#pinger);
    this.#services.hub.closeAll();
    this.#sockets.close();
  }

  #open(socket: WebSocket, request: IncomingMessage, encodedKey: string): void {
    const connection = new Connection(socket);
    socket.on('error', () => socket.terminate());
    const refusal = this.#refusal(request, encodedKey);
    if (refusal) {
      connection.fail(refusal.code, refusal.message);
      connection.close(refusal.code, refusal.message);
      return;
    }
    this.#services.hub.add(connection);
    socket.on('close', () => this.#services.hub.remove(connection));
    socket.on('message', (data) => this.#receive(connection, data));
    connection.send('pusher:connection_established', {
      socket_id: connection.id,
      activity_timeout: activityTimeoutSeconds,
    });
  }

  #refusal(request: IncomingMessage, encodedKey: string): { code: number; message: string } | null {
    const { env } = this.#services;
    if (decodeKey(encodedKey) !== env.REVERB_APP_KEY) return { code: 4001, message: 'Application does not exist' };
    const { origin } = request.headers;
    if (origin !== undefined && !isOwnOrigin(origin, sourceOf(request), env.APP_ORIGIN)) {
      return { code: 4009, message: 'Origin not allowed' };
    }
    return null;
  }

  #receive(connection: Connection, data: RawData): void {
    connection.lastActivity = Date.now();
    const message = parseFrame(data);
    const handled = message && this.#handle(connection, message);
    if (!handled) connection.fail(4200, 'Invalid message format');
  }

  #handle(connection: Connection, message: z.infer<typeof frame>): boolean {
    switch (message.event) {
      case 'pusher:ping':
        connection.send('pusher:pong');
        return true;
      case 'pusher:pong':
        return true;
      case 'pusher:subscribe':
        return this.#subscribe(connection, message.data);
      case 'pusher:unsubscribe': {
        const { success, data } = unsubscription.safeParse(message.data);
        if (success) this.#services.hub.unsubscribe(connection, data.channel);
        return success;
      }
      default:
        return !message.event.startsWith('pusher:') && this.#whisper(connection, message);
    }
  }

  #subscribe(connection: Connection, payload: unknown): boolean {
    const { success, data } = subscription.safeParse(payload);
    if (!success) return false;
    const { channel, auth, channel_data } = data;
    if (/^(private|presence)-/.test(channel) && !this.#isSigned(connection.id, channel, auth ?? '', channel_data)) {
      connection.fail(4009, 'Connection is unauthorized');
      return true;
    }
    if (this.#services.hub.subscribe(connection, channel)) {
      connection.send('pusher_internal:subscription_succeeded', {}, channel);
    } else {
      connection.fail(4302, 'Too many channels');
    }
    return true;
  }

  #isSigned(socketId: string, channel: string, auth: string, channelData: string | null | undefined): boolean {
    const signed = channelData ? `${socketId}:${channel}:${channelData}` : `${socketId}:${channel}`;
    return sameText(auth.slice(auth.indexOf(':') + 1), hmac(this.#services.appKey, signed));
  }

  #whisper(connection: Connection, message: z.infer<typeof frame>): boolean {
    const { success, data } = clientEvent.safeParse(message);
    if (!success) return false;
    if (!data.event.startsWith('client-')) return true;
    if (connection.channels.has(data.channel)) {
      this.#services.hub.broadcast(data.channel, data.event, data.data, connection);
    } else {
      connection.fail(4009, 'The client is not a member of the specified channel.');
    }
    return true;
  }

  #pingQuiet(): void {
    const quietSince = Date.now() - pingIntervalMs;
    for (const connection of this.#services.hub.all()) {
      if (connection.lastActivity < quietSince - pingIntervalMs) {
        connection.fail(4201, 'Pong reply not received in time');
        connection.close(4201, 'Pong reply not received in time');
      } else if (connection.lastActivity < quietSince) {
        connection.send('pusher:ping');
      }
    }
  }
}

/** Browsers escape the braces of the placeholder key `{key}`. */
function decodeKey(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
}

function parseFrame(data: RawData): z.infer<typeof frame> | null {
  try {
    return frame.parse(JSON.parse(data.toString()));
  } catch {
    return null;
  }
}
