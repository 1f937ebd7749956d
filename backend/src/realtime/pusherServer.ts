import { randomInt } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import * as v from 'valibot';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import type { Env } from '../env.ts';
import { isOwnOrigin, sourceOf } from '../http/http.ts';
import { rules } from '../rules.ts';
import { hmac, sameText } from '../signatures.ts';
import type { Broadcaster } from './events.ts';

const ACTIVITY_TIMEOUT_SECONDS = 30;
/** Silence before a ping. Twice this plus the check interval fits into the 75 s of the documented nginx. */
const SILENCE_MS = 30_000;

/** Returns undefined if `read` throws. */
function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const frameSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    event: v.string(),
    channel: v.optional(v.string()),
    /** may be a JSON text within the JSON */
    data: v.pipe(
      v.optional(v.unknown()),
      v.transform((data) => (typeof data === 'string' ? (attempt((): unknown => JSON.parse(data)) ?? data) : data)),
    ),
  }),
);
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
  readonly #connections = new Set<Connection>();
  readonly #channels = new Map<string, Set<Connection>>();
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: rules.frameBytes });
  readonly #pinger = setInterval(() => this.#pingSilent(), SILENCE_MS / 2).unref();

  constructor(
    private readonly env: Env,
    private readonly appKey: string,
  ) {}

  /** Includes the session in the signature, so that the socket that subscribes with it is bound to the session. */
  sign(text: string, sessionHash: string): string {
    const session = this.#sessionNameOf(sessionHash);
    return `${this.env.REVERB_APP_KEY}:${hmac(this.appKey, `${text}|${session}`)}.${session}`;
  }

  /** Returns a name for the session that does not reveal its hash to pages. */
  #sessionNameOf(sessionHash: string): string {
    return hmac(this.appKey, `socket|${sessionHash}`);
  }

  publish(channel: string, event: string, data: object): void {
    // serialized once, so that slow clients share the same buffer
    this.#relay(channel, frameOf(event, data, channel));
  }

  closeSession(sessionHash: string): void {
    const session = this.#sessionNameOf(sessionHash);
    for (const connection of this.#connections)
      if (connection.sessions.has(session)) connection.close(4009, 'Connection is unauthorized', 'session ended');
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const encodedKey = /^\/app\/([^?]*)/.exec(request.url ?? '')?.[1] ?? '';
    this.#sockets.handleUpgrade(request, stream, head, (socket) => this.#open(socket, request, encodedKey));
  }

  load() {
    return { sockets: this.#connections.size, queuedEvents: 0, lostEvents: 0 };
  }

  async close(): Promise<void> {
    clearInterval(this.#pinger);
    // unlike Reverb, announces the restart, so that a page reconnects without treating its network as broken
    for (const connection of this.#connections) connection.close(4200, 'Server is restarting', 'server is restarting');
    this.#sockets.close();
  }

  #open(socket: WebSocket, request: IncomingMessage, encodedKey: string): void {
    const connection = new Connection(socket);
    socket.on('error', () => socket.terminate());
    // browsers escape the braces of `{key}`
    if (attempt(() => decodeURIComponent(encodedKey)) !== this.env.REVERB_APP_KEY) {
      connection.drop(4001, 'Application does not exist');
      return;
    }
    // unlike Reverb, which leaves it open for public channels
    if (!this.#isFromOwnPage(request)) {
      connection.close(4009, 'Origin not allowed');
      return;
    }
    this.#connections.add(connection);
    socket.on('close', () => {
      for (const channel of connection.channels) this.#unsubscribe(connection, channel);
      this.#connections.delete(connection);
    });
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
      isOwnOrigin(origin, sourceOf(request, this.env.BACKEND_TRUST_PROXY === 'true'), this.env.APP_ORIGIN)
    );
  }

  #receive(connection: Connection, data: RawData): void {
    connection.lastActivity = performance.now();
    const { success, output } = v.safeParse(frameSchema, data.toString());
    let isValid = false;
    try {
      isValid = success && this.#handle(connection, output);
    } catch (error) {
      // serializing a frame that is nested too deeply
      if (!(error instanceof RangeError)) throw error;
    }
    if (!isValid) connection.fail(4200, 'Invalid message format');
  }

  /** Returns whether the frame is valid. */
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
        if (success) this.#unsubscribe(connection, output.channel);
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
    if (connection.channels.size >= MAX_CHANNELS) {
      connection.fail(4302, 'Too many channels');
      return true;
    }
    this.#channels.set(channel, (this.#channels.get(channel) ?? new Set()).add(connection));
    connection.channels.add(channel);
    if (session !== null) connection.sessions.add(session);
    connection.send('pusher_internal:subscription_succeeded', {}, channel);
    return true;
  }

  #unsubscribe(connection: Connection, channel: string): void {
    connection.channels.delete(channel);
    const members = this.#channels.get(channel);
    members?.delete(connection);
    if (members?.size === 0) this.#channels.delete(channel);
  }

  /** Sends a frame to the members of a channel, except its sender. */
  #relay(channel: string, frame: Buffer, sender?: Connection): void {
    for (const member of this.#channels.get(channel) ?? []) if (member !== sender) member.relay(frame);
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
    return sameText(signature, hmac(this.appKey, `${text}|${session}`)) ? session : null;
  }

  #whisper(connection: Connection, message: ClientFrame): boolean {
    const { success, output } = v.safeParse(clientEventSchema, message);
    if (!success) return false;
    if (!output.event.startsWith('client-')) return true;
    const isMember = connection.channels.has(output.channel);
    if (isMember) this.#relay(output.channel, bytesOf(output), connection);
    else connection.fail(4009, 'The client is not a member of the specified channel.');
    return true;
  }

  #pingSilent(): void {
    const silentSince = performance.now() - SILENCE_MS;
    for (const connection of this.#connections) {
      if (connection.lastActivity <= silentSince - SILENCE_MS) connection.drop(4201, 'Pong reply not received in time');
      else if (connection.lastActivity <= silentSince) connection.send('pusher:ping');
    }
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

  constructor(private readonly socket: WebSocket) {}

  send(event: string, data?: unknown, channel?: string): void {
    this.relay(frameOf(event, data, channel));
  }

  /** Sends a frame. Terminates a socket whose client has stopped reading. */
  relay(frame: Buffer): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    if (this.socket.bufferedAmount > MAX_BUFFERED_BYTES) this.socket.terminate();
    else this.socket.send(frame, { binary: false });
  }

  fail(code: number, message: string): void {
    this.send('pusher:error', { code, message });
  }

  /** Reports an error and closes the socket with its code. */
  close(code: number, message: string, reason = message): void {
    this.fail(code, message);
    this.socket.close(code, reason);
    setTimeout(() => this.socket.terminate(), 500).unref();
  }

  /** Reports an error and terminates the socket without a close frame, as Reverb does, once all frames are flushed. */
  drop(code: number, message: string): void {
    this.fail(code, message);
    this.socket.ping('', false, () => this.socket.terminate());
  }
}
