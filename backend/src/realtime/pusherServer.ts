import { randomInt } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import * as v from 'valibot';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import type { Env } from '../env.ts';
import { isOwnOrigin, sourceOf } from '../http/http.ts';
import { rules } from '../rules.ts';
import { hmac, sameText } from '../signatures.ts';
import type { Broadcaster, BroadcasterLoad } from './events.ts';

const ACTIVITY_TIMEOUT_SECONDS = 30;
/** Silence before a ping. Twice this plus the check interval fits into the 75 s of the documented nginx. */
const SILENCE_MS = 30_000;

const frameSchema = v.object({
  event: v.string(),
  channel: v.optional(v.string()),
  data: v.optional(v.unknown()),
});
type ClientFrame = v.InferOutput<typeof frameSchema>;

const subscriptionSchema = v.object({
  /** Reverb accepts longer names. With `MAX_CHANNELS` this limits the memory per visitor. */
  channel: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  auth: v.nullish(v.string()),
  channel_data: v.nullish(v.string()),
});
const unsubscriptionSchema = v.pick(subscriptionSchema, ['channel']);
const clientEventSchema = v.object({
  event: v.string(),
  channel: v.string(),
  /** an object or a list, forwarded unchanged */
  data: v.optional(
    v.custom<object | null>((value) => typeof value === 'object'),
    null,
  ),
});

/** This server's own sockets on `/app/{key}`, with the Pusher protocol (v7) as in Reverb. */
export class PusherServer implements Broadcaster {
  readonly #env: Env;
  readonly #appKey: string;
  readonly #hub = new Hub();
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: rules.frameBytes });
  readonly #pinger: NodeJS.Timeout;

  constructor(env: Env, appKey: string) {
    this.#env = env;
    this.#appKey = appKey;
    this.#pinger = setInterval(() => this.#pingSilent(), SILENCE_MS / 2).unref();
  }

  /** Includes the session in the signature, so that the socket that subscribes with it is bound to the session. */
  sign(text: string, sessionHash: string): string {
    const session = this.#sessionNameOf(sessionHash);
    return `${this.#env.REVERB_APP_KEY}:${hmac(this.#appKey, `${text}|${session}`)}.${session}`;
  }

  /** Returns a name for the session that does not reveal its hash to pages. */
  #sessionNameOf(sessionHash: string): string {
    return hmac(this.#appKey, `socket|${sessionHash}`);
  }

  publish(channel: string, event: string, data: object): void {
    this.#hub.broadcast(channel, event, data);
  }

  closeSession(sessionHash: string): void {
    this.#hub.closeSession(this.#sessionNameOf(sessionHash));
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const encodedKey = /^\/app\/([^?]*)/.exec(request.url ?? '')?.[1] ?? '';
    this.#sockets.handleUpgrade(request, stream, head, (socket) => this.#open(socket, request, encodedKey));
  }

  load(): BroadcasterLoad {
    return { sockets: this.#hub.size, queuedEvents: 0, lostEvents: 0 };
  }

  async close(): Promise<void> {
    clearInterval(this.#pinger);
    // unlike Reverb, announces the restart, so that a page reconnects without treating its network as broken
    this.#hub.closeAll();
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
      // unlike Reverb, which leaves it open for public channels
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
    if (!message || !this.#tryHandle(connection, message)) connection.fail(4200, 'Invalid message format');
  }

  /** Whether a frame is valid. Serializing one that is nested too deeply throws `RangeError`. */
  #tryHandle(connection: Connection, message: ClientFrame): boolean {
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
    const session = isGuarded ? this.#verifySignature(connection.id, channel, auth ?? '', channel_data) : null;
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

  /** Returns the name of the session in a signature; null if the signature is wrong. */
  #verifySignature(
    socketId: string,
    channel: string,
    auth: string,
    channelData: string | null | undefined,
  ): string | null {
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

  #pingSilent(): void {
    const silentSince = performance.now() - SILENCE_MS;
    for (const connection of this.#hub.all()) {
      if (connection.lastActivity <= silentSince - SILENCE_MS) {
        connection.fail(4201, 'Pong reply not received in time');
        connection.drop();
      } else if (connection.lastActivity <= silentSince) {
        connection.send('pusher:ping');
      }
    }
  }
}

/** Decodes the key, since browsers escape the braces of `{key}`. */
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
  // `data` may be a JSON text within the JSON
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

/** `data` is a JSON text within the JSON, as the protocol requires. */
const frameOf = (event: string, data?: unknown, channel?: string): Buffer =>
  bytesOf({ event, data: data === undefined ? undefined : JSON.stringify(data), channel });

/** Limit of memory per visitor, which Reverb does not have. */
const MAX_CHANNELS = 100;
/** Limit for a client that does not read: about twelve events, beyond the buffer of the operating system. */
const MAX_BUFFERED_BYTES = 128 * 1024;

/** An open socket with its channels and the names of the sessions with whose signatures it subscribed. */
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

  /** Sends a frame. Terminates a socket whose client has stopped reading. */
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

  /** Terminates the socket without a close frame, as Reverb does, once all frames are flushed. */
  drop(): void {
    this.#socket.ping('', false, () => this.#socket.terminate());
  }
}

/** The subscriptions in this process. */
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

  /** Returns false if the socket already has the maximum number of channels. */
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
    // serialized once, so that slow clients share the same buffer
    const frame = frameOf(event, data, channel);
    for (const member of this.#channels.get(channel) ?? []) member.relay(frame);
  }

  /** Forwards a client's event to the other members of its channel. */
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

  /** Closes every socket with a code that makes the page reconnect. */
  closeAll(): void {
    for (const connection of this.#connections.values()) {
      connection.fail(4200, 'Server is restarting');
      connection.close(4200, 'server is restarting');
    }
  }
}
