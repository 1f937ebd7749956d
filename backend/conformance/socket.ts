import WebSocket from 'ws';

export interface Frame {
  event: string;
  channel?: string;
  /** decoded where it came as a JSON text of its own */
  data?: unknown;
}

/** No socket could be opened, or what was waited for did not come. */
export class SocketProblem extends Error {}

const TIMEOUT_MS = 15_000;

/** A bare client of the Pusher protocol that remembers every frame. */
export class PusherSocket {
  readonly frames: Frame[] = [];
  /** the frames as they came */
  readonly texts: string[] = [];
  /** What came and is no frame of the protocol: the page skips it. */
  readonly strange: string[] = [];
  readonly closed: Promise<{ code: number }>;
  readonly #socket: WebSocket;
  readonly #timeoutMs: number;
  readonly #waiting = new Set<{ check: () => void; fail: (why: string) => void }>();
  #closeCode: number | undefined;

  private constructor(socket: WebSocket, timeoutMs: number) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    this.closed = new Promise((resolve) => {
      socket.on('close', (code) => {
        this.#closeCode = code;
        for (const { fail } of this.#waiting) fail(`closed with ${code}`);
        resolve({ code });
      });
    });
    socket.on('error', () => undefined);
    socket.on('message', (raw) => {
      const text = raw.toString();
      const frame = toFrame(text);
      if (!frame) return void this.strange.push(text);
      this.texts.push(text);
      this.frames.push(frame);
      for (const { check } of this.#waiting) check();
    });
  }

  /** Opens a socket and waits for its first frame, be it a greeting or an error. Rejects with `SocketProblem`. */
  static async open(
    address: string,
    { origin, timeoutMs = TIMEOUT_MS }: { origin?: string; timeoutMs?: number } = {},
  ): Promise<PusherSocket> {
    const socket = new WebSocket(address, { origin, handshakeTimeout: timeoutMs });
    const opened = new PusherSocket(socket, timeoutMs);
    const refused = new Promise<never>((_, reject) => {
      socket.on('error', (cause) => reject(new SocketProblem(reasonOf(cause))));
      socket.on('close', (code) => reject(new SocketProblem(`closed with ${code} before a word`)));
    });
    await Promise.race([opened.frame(() => true), refused]);
    return opened;
  }

  /** The greeting's socket id; undefined where the first frame was another. */
  get id(): string | undefined {
    const [first] = this.frames;
    if (first?.event !== 'pusher:connection_established') return undefined;
    return (first.data as { socket_id?: string } | undefined)?.socket_id;
  }

  /** Sends a frame, or a text as it is. */
  send(frame: unknown): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** The first frame that matches, or one that came already. Rejects with `SocketProblem` if none comes in time. */
  frame(matches: (frame: Frame) => boolean, withinMs = this.#timeoutMs): Promise<Frame> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
      };
      const check = () => {
        const frame = this.frames.find(matches);
        if (!frame) return;
        end();
        resolve(frame);
      };
      const fail = (why: string) => {
        end();
        reject(new SocketProblem(`${why}; heard ${this.#heard()}`));
      };
      const waiting = { check, fail };
      const timer = setTimeout(() => fail(`nothing within ${withinMs / 1000} s`), withinMs);
      this.#waiting.add(waiting);
      check();
      if (this.#closeCode !== undefined) fail(`closed with ${this.#closeCode}`);
    });
  }

  /** Asks for a sign of life: what was sent before has been dealt with once it comes. */
  async ping(): Promise<Frame> {
    const heard = this.frames.length;
    this.send({ event: 'pusher:ping', data: {} });
    return this.frame((frame) => frame.event === 'pusher:pong' && this.frames.indexOf(frame) >= heard);
  }

  /** Without waiting for the server's part of it, which may never come. */
  close(): void {
    this.#socket.terminate();
  }

  #heard(): string {
    return (
      this.frames.map(({ event, data }) => `${event} ${JSON.stringify(data ?? {})}`).join(', ') || 'nothing at all'
    );
  }
}

function toFrame(raw: string): Frame | null {
  const frame = parsed(raw) as Frame | null;
  if (typeof frame?.event !== 'string') return null;
  return typeof frame.data === 'string' ? { ...frame, data: parsed(frame.data) } : frame;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const reasonOf = (cause: Error): string => (cause as NodeJS.ErrnoException).code ?? cause.message;
