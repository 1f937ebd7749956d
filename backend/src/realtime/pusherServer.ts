import { randomInt } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import * as v from 'valibot';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import type { Env } from '../env.ts';
import { isOwnOrigin, sourceOf } from '../http/origin.ts';
import { rules } from '../rules.ts';
import { hmac, sameText } from '../signatures.ts';
import type { Broadcaster, BroadcasterLoad } from './events.ts';

const ACTIVITY_TIMEOUT_SECONDS = 30;
/** Twice this, and the look at every half of it, stay below the 75 s after which the documented nginx ends a silent socket. */
const QUIET_MS = 30_000;

const frameSchema = v.object({
  event: v.string(),
  channel: v.optional(v.string()),
  data: v.optional(v.unknown()),
});
type ClientFrame = v.InferOutput<typeof frameSchema>;

const subscriptionSchema = v.object({
  /** Reverb takes longer ones; with `maxChannels` this bounds what one visitor may cost. */
  channel: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  auth: v.nullish(v.string()),
  channel_data: v.nullish(v.string()),
});
const unsubscriptionSchema = v.pick(subscriptionSchema, ['channel']);
const clientEventSchema = v.object({
  event: v.string(),
  channel: v.string(),
  /** an object or a list, handed on as it came */
  data: v.optional(
    v.custom<object | null>((value) => typeof value === 'object'),
    null,
  ),
});

/** Sockets of this server's own, which speak the Pusher protocol (v7) as Reverb does, on `/app/{key}`. */
export class PusherServer implements Broadcaster {
  readonly #env: Env;
  readonly #appKey: string;
  readonly #hub = new Hub();
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: rules.frameBytes });
  readonly #pinger: NodeJS.Timeout;

  constructor(env: Env, appKey: string) {
    this.#env = env;
    this.#appKey = appKey;
    this.#pinger = setInterval(() => this.#pingQuiet(), QUIET_MS / 2).unref();
  }

  /** The signature holds the session as well, so that it binds only the socket that joins by it. */
  sign(text: string, sessionHash: string): string {
    const session = this.#nameOf(sessionHash);
    return `${this.#env.REVERB_APP_KEY}:${hmac(this.#appKey, `${text}|${session}`)}.${session}`;
  }

  /** A session as pages may see it. */
  #nameOf(sessionHash: string): string {
    return hmac(this.#appKey, `socket|${sessionHash}`);
  }

  publish(channel: string, event: string, data: object): void {
    this.#hub.broadcast(channel, event, data);
  }

  closeSession(sessionHash: string): void {
    this.#hub.closeSession(this.#nameOf(sessionHash));
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const encodedKey = /^\/app\/([^?]*)/.exec(request.url ?? '')?.[1] ?? '';
    this.#sockets.handleUpgrade(request, stream, head, (socket) => this.#open(socket, request, encodedKey));
  }

  load(): BroadcasterLoad {
    return { sockets: this.#hub.size, waiting: 0, lost: 0 };
  }

  async close(): Promise<void> {
    clearInterval(this.#pinger);
    // Reverb just goes; told, a page comes back without taking its network for broken
    this.#hub.sendAway();
    this.#sockets.close();
  }

  #open(socket: WebSocket, request: IncomingMessage, encodedKey: string): void {
    const connection = new Connection(socket);
    socket.on('error', () => socket.terminate());
    if (decodeKey(encodedKey) !== this.#env.REVERB_APP_KEY) {
      connection.fail(4001, 'Application does not exist');
      connection.drop();
      return;
    }
    if (!this.#isFromOwnPage(request)) {
      connection.fail(4009, 'Origin not allowed');
      // Reverb leaves it open, and lets it join what needs no signature
      connection.close(4009, 'Origin not allowed');
      return;
    }
    this.#hub.add(connection);
    socket.on('close', () => this.#hub.remove(connection));
    socket.on('message', (data) => this.#receive(connection, data));
    connection.send('pusher:connection_established', {
      socket_id: connection.id,
      activity_timeout: ACTIVITY_TIMEOUT_SECONDS,
    });
  }

  #isFromOwnPage(request: IncomingMessage): boolean {
    const { origin } = request.headers;
    return (
      origin === undefined ||
      isOwnOrigin(origin, sourceOf(request, this.#env.BACKEND_TRUST_PROXY === 'true'), this.#env.APP_ORIGIN)
    );
  }

  #receive(connection: Connection, data: RawData): void {
    connection.lastActivity = performance.now();
    const message = parseFrame(data);
    if (!message || !this.#handles(connection, message)) connection.fail(4200, 'Invalid message format');
  }

  /** Whether a frame could be used. One that nests too deeply to be written again throws. */
  #handles(connection: Connection, message: ClientFrame): boolean {
    try {
      return this.#handle(connection, message);
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
  }

  #handle(connection: Connection, message: ClientFrame): boolean {
    switch (message.event) {
      case 'pusher:ping':
        connection.send('pusher:pong');
        return true;
      case 'pusher:pong':
        return true;
      case 'pusher:subscribe':
        return this.#subscribe(connection, message.data);
      case 'pusher:unsubscribe': {
        const { success, output } = v.safeParse(unsubscriptionSchema, message.data);
        if (success) this.#hub.unsubscribe(connection, output.channel);
        return success;
      }
      default:
        return !message.event.startsWith('pusher:') && this.#whisper(connection, message);
    }
  }

  #subscribe(connection: Connection, payload: unknown): boolean {
    const { success, output } = v.safeParse(subscriptionSchema, payload);
    if (!success) return false;
    const { channel, auth, channel_data } = output;
    const isGuarded = /^(private|presence)-/.test(channel);
    const session = isGuarded ? this.#signedBy(connection.id, channel, auth ?? '', channel_data) : null;
    if (isGuarded && session === null) {
      connection.fail(4009, 'Connection is unauthorized');
      return true;
    }
    if (this.#hub.subscribe(connection, channel)) {
      if (session !== null) connection.sessions.add(session);
      connection.send('pusher_internal:subscription_succeeded', {}, channel);
    } else {
      connection.fail(4302, 'Too many channels');
    }
    return true;
  }

  /** The name of the session that a signature was given to; null for a foreign signature. */
  #signedBy(socketId: string, channel: string, auth: string, channelData: string | null | undefined): string | null {
    const text = channelData ? `${socketId}:${channel}:${channelData}` : `${socketId}:${channel}`;
    const [signature = '', session = ''] = auth.slice(auth.indexOf(':') + 1).split('.');
    return sameText(signature, hmac(this.#appKey, `${text}|${session}`)) ? session : null;
  }

  #whisper(connection: Connection, message: ClientFrame): boolean {
    const { success, output } = v.safeParse(clientEventSchema, message);
    if (!success) return false;
    if (!output.event.startsWith('client-')) return true;
    if (connection.channels.has(output.channel)) {
      this.#hub.whisper(connection, output);
    } else {
      connection.fail(4009, 'The client is not a member of the specified channel.');
    }
    return true;
  }

  #pingQuiet(): void {
    const quietSince = performance.now() - QUIET_MS;
    for (const connection of this.#hub.all()) {
      if (connection.lastActivity <= quietSince - QUIET_MS) {
        connection.fail(4201, 'Pong reply not received in time');
        connection.drop();
      } else if (connection.lastActivity <= quietSince) {
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

function parseFrame(data: RawData): ClientFrame | null {
  const { success, output: message } = v.safeParse(frameSchema, parseJson(data.toString()));
  if (!success) return null;
  // `data` may come as a JSON text of its own
  return typeof message.data === 'string' ? { ...message, data: parseJson(message.data) ?? message.data } : message;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const bytesOf = (frame: object): Buffer => Buffer.from(JSON.stringify(frame));

/** `data` is a JSON text of its own, as the protocol wants. */
const frameOf = (event: string, data?: unknown, channel?: string): Buffer =>
  bytesOf({ event, data: data === undefined ? undefined : JSON.stringify(data), channel });

/** Reverb has no such bound; here it keeps what one visitor may cost. */
const MAX_CHANNELS = 100;
/** For a reader who takes nothing: some twelve whole events, beyond what the system keeps for a connection. */
const MAX_BUFFERED_BYTES = 128 * 1024;

/** One open socket: its channels, and the names of the sessions by whose signatures it joined them. */
class Connection {
  readonly id = `${randomInt(1, 1_000_000_000)}.${randomInt(1, 1_000_000_000)}`;
  readonly channels = new Set<string>();
  readonly sessions = new Set<string>();
  lastActivity = performance.now();
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  send(event: string, data?: unknown, channel?: string): void {
    this.relay(frameOf(event, data, channel));
  }

  /** Sends a whole frame. Ends a socket whose reader has stopped reading. */
  relay(frame: Buffer): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > MAX_BUFFERED_BYTES) this.#socket.terminate();
    else this.#socket.send(frame, { binary: false });
  }

  fail(code: number, message: string): void {
    this.send('pusher:error', { code, message });
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
    setTimeout(() => this.#socket.terminate(), 500).unref();
  }

  /** Ends without a close frame, as Reverb does, once everything sent is on its way. */
  drop(): void {
    this.#socket.ping('', false, () => this.#socket.terminate());
  }
}

/** Who listens to what, in this process. */
class Hub {
  readonly #connections = new Map<string, Connection>();
  readonly #channels = new Map<string, Set<Connection>>();

  add(connection: Connection): void {
    this.#connections.set(connection.id, connection);
  }

  remove(connection: Connection): void {
    for (const channel of connection.channels) this.unsubscribe(connection, channel);
    this.#connections.delete(connection.id);
  }

  get size(): number {
    return this.#connections.size;
  }

  all(): Iterable<Connection> {
    return this.#connections.values();
  }

  /** Returns false when the socket already listens to as many channels as one may. */
  subscribe(connection: Connection, channel: string): boolean {
    if (connection.channels.size >= MAX_CHANNELS) return false;
    const members = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, members.add(connection));
    connection.channels.add(channel);
    return true;
  }

  unsubscribe(connection: Connection, channel: string): void {
    connection.channels.delete(channel);
    const members = this.#channels.get(channel);
    members?.delete(connection);
    if (members?.size === 0) this.#channels.delete(channel);
  }

  broadcast(channel: string, event: string, data: unknown): void {
    // made once: readers who are behind hold the same bytes
    const frame = frameOf(event, data, channel);
    for (const member of this.#channels.get(channel) ?? []) member.relay(frame);
  }

  /** Passes a client's event on to the other members of its channel. */
  whisper(from: Connection, event: { event: string; channel: string; data: unknown }): void {
    const frame = bytesOf(event);
    for (const member of this.#channels.get(event.channel) ?? []) if (member !== from) member.relay(frame);
  }

  closeSession(session: string): void {
    for (const connection of this.#connections.values()) {
      if (!connection.sessions.has(session)) continue;
      connection.fail(4009, 'Connection is unauthorized');
      connection.close(4009, 'session ended');
    }
  }

  /** Tells every socket to come back, and closes it. */
  sendAway(): void {
    for (const connection of this.#connections.values()) {
      connection.fail(4200, 'Server is restarting');
      connection.close(4200, 'server is restarting');
    }
  }
}
