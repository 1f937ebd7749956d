import { randomInt } from 'node:crypto';
import type { WebSocket } from 'ws';

/** Reverb has no such bound; here it keeps what one visitor may cost. */
const maxChannels = 100;
const maxBufferedBytes = 1_000_000;

/** One open socket: its channels, and the sessions that asked for its channel signatures. */
export class Connection {
  readonly id = `${randomInt(1, 1_000_000_000)}.${randomInt(1, 1_000_000_000)}`;
  readonly channels = new Set<string>();
  readonly sessions = new Set<string>();
  lastActivity = Date.now();
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** Sends one frame; `data` is a JSON text of its own, as the protocol wants. */
  send(event: string, data?: unknown, channel?: string): void {
    this.relay({ event, data: data === undefined ? undefined : JSON.stringify(data), channel });
  }

  /** Sends a frame as it is, such as another client's. */
  relay(frame: object): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > maxBufferedBytes) {
      this.#socket.terminate();
      return;
    }
    this.#socket.send(JSON.stringify(frame));
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
export class Hub {
  readonly #connections = new Map<string, Connection>();
  readonly #channels = new Map<string, Set<Connection>>();

  add(connection: Connection): void {
    this.#connections.set(connection.id, connection);
  }

  remove(connection: Connection): void {
    for (const channel of connection.channels) this.unsubscribe(connection, channel);
    this.#connections.delete(connection.id);
  }

  all(): Iterable<Connection> {
    return this.#connections.values();
  }

  /** Returns false when the socket already listens to as many channels as one may. */
  subscribe(connection: Connection, channel: string): boolean {
    if (connection.channels.size >= maxChannels) return false;
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
    for (const member of this.#channels.get(channel) ?? []) member.send(event, data, channel);
  }

  /** Passes a client's event on to the other members of its channel. */
  whisper(from: Connection, event: { event: string; channel: string; data: unknown }): void {
    for (const member of this.#channels.get(event.channel) ?? []) if (member !== from) member.relay(event);
  }

  /** Remembers which session vouched for a socket, so that it can be closed when the session ends. */
  bindSession(socketId: string, sessionHash: string): void {
    this.#connections.get(socketId)?.sessions.add(sessionHash);
  }

  closeSession(sessionHash: string): void {
    for (const connection of this.#connections.values()) {
      if (!connection.sessions.has(sessionHash)) continue;
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
