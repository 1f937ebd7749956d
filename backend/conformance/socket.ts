import { EventEmitter, once } from 'node:events';
import WebSocket from 'ws';
import { parseJson, reasonOf } from './check.ts';

export interface Frame {
  event: string;
  channel?: string;
  /** decoded, if it was a JSON text */
  data?: unknown;
}

/** Thrown if a socket could not be opened or an awaited frame did not arrive. */
export class SocketProblem extends Error {}

const TIMEOUT_MS = 15_000;

/** A minimal client of the Pusher protocol that records every frame. */
export class PusherSocket {
  readonly frames: Frame[] = [];
  /** the received frames as text */
  readonly texts: string[] = [];
  /** Messages that are not frames of the protocol, which the page ignores. */
  readonly foreignMessages: string[] = [];
  readonly closed: Promise<{ code: number }>;
  /** emits `change` with each frame, and when the socket is closed */
  readonly #changes = new EventEmitter();
  #closeCode: number | undefined;

  private constructor(
    private readonly socket: WebSocket,
    private readonly timeoutMs: number,
  ) {
    this.closed = new Promise((resolve) => {
      socket.on('close', (code) => {
        this.#closeCode = code;
        this.#changes.emit('change');
        resolve({ code });
      });
    });
    socket.on('error', () => undefined);
    socket.on('message', (raw) => {
      const text = raw.toString();
      const frame = toFrame(text);
      if (!frame) return void this.foreignMessages.push(text);
      this.texts.push(text);
      this.frames.push(frame);
      this.#changes.emit('change');
    });
  }

  /** Opens a socket and waits for its first frame, a greeting or an error. Rejects with `SocketProblem`. */
  static async open(
    address: string,
    { origin, timeoutMs = TIMEOUT_MS }: { origin?: string; timeoutMs?: number } = {},
  ): Promise<PusherSocket> {
    const socket = new WebSocket(address, { origin, handshakeTimeout: timeoutMs });
    const pusherSocket = new PusherSocket(socket, timeoutMs);
    const refusal = new Promise<never>((_, reject) => {
      socket.on('error', (cause) => reject(new SocketProblem(reasonOf(cause))));
      socket.on('close', (code) => reject(new SocketProblem(`closed with ${code} before a word`)));
    });
    await Promise.race([pusherSocket.frame(() => true), refusal]);
    return pusherSocket;
  }

  /** The socket id of the greeting; undefined if the first frame was another one. */
  get id(): string | undefined {
    const [first] = this.frames;
    if (first?.event !== 'pusher:connection_established') return undefined;
    return (first.data as { socket_id?: string } | undefined)?.socket_id;
  }

  /** Sends a frame, or a text unchanged. */
  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** Resolves to the first frame that matches, also one received before. Rejects with `SocketProblem` at a timeout. */
  async frame(matches: (frame: Frame) => boolean, withinMs = this.timeoutMs): Promise<Frame> {
    const signal = AbortSignal.timeout(withinMs);
    for (;;) {
      const frame = this.frames.find(matches);
      if (frame) return frame;
      if (this.#closeCode !== undefined) throw this.#problem(`closed with ${this.#closeCode}`);
      await once(this.#changes, 'change', { signal }).catch(() => {
        throw this.#problem(`nothing within ${withinMs / 1000} s`);
      });
    }
  }

  /** Sends a ping. When its pong arrives, the server has handled all earlier frames. */
  async ping(): Promise<Frame> {
    const frameCount = this.frames.length;
    this.send({ event: 'pusher:ping', data: {} });
    return this.frame((frame) => frame.event === 'pusher:pong' && this.frames.indexOf(frame) >= frameCount);
  }

  /** Terminates the socket without waiting for the server's close frame. */
  close(): void {
    this.socket.terminate();
  }

  #problem(why: string): SocketProblem {
    const frames = this.frames.map(({ event, data }) => `${event} ${JSON.stringify(data ?? {})}`).join(', ');
    return new SocketProblem(`${why}; received ${frames || 'nothing at all'}`);
  }
}

function toFrame(raw: string): Frame | null {
  const frame = parseJson(raw, null) as Frame | null;
  if (typeof frame?.event !== 'string') return null;
  return typeof frame.data === 'string' ? { ...frame, data: parseJson(frame.data, frame.data) } : frame;
}
