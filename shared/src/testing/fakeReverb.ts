type Frame = { event: string; data?: unknown; channel?: string };

/** A WebSocket whose server runs in the same process. */
class FakeSocket extends EventTarget {
  static readonly OPEN = 1;
  readyState = 0;
  bufferedAmount = 0;
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: ((event: object) => void) | null = null;
  onerror: ((event: object) => void) | null = null;
  readonly url: string;
  readonly #server: FakeReverb;

  constructor(url: string, server: FakeReverb) {
    super();
    this.url = url;
    this.#server = server;
  }

  send(text: string) {
    // a browser only logs this; a test must fail
    if (this.readyState > 1) this.#server.sentTooLate += 1;
    const frame = JSON.parse(text) as Frame;
    queueMicrotask(() => this.#server.receive(this, frame));
  }

  close(code = 1000) {
    if (this.readyState > 1) return;
    this.readyState = 3;
    this.#server.sockets.delete(this);
    queueMicrotask(() => {
      const event = Object.assign(new Event('close'), { code, reason: '', wasClean: true });
      // same order as in a browser: pusher-js sets its handler later, and would otherwise schedule two retries and cancel only one
      this.dispatchEvent(event);
      this.onclose?.(event);
    });
  }

  open() {
    this.readyState = 1;
    this.onopen?.();
  }

  deliver(frame: Frame) {
    const data = frame.data === undefined ? undefined : this.#server.encodePayload(frame.data);
    this.deliverText(JSON.stringify({ ...frame, data }));
  }

  /** Sends a frame's exact text. */
  deliverText(text: string) {
    if (this.readyState === 1) this.dispatchEvent(new MessageEvent('message', { data: text }));
  }
}

/** Reaction to a new socket: `error` includes a close frame, `errorThenOpen` is Reverb's reaction to a foreign origin. */
export type Greeting = 'welcome' | 'refused' | { error: number } | { errorThenOpen: number };

/** Reverb's side of the Pusher protocol, as far as a client can observe it. */
export class FakeReverb {
  readonly sockets = new Set<FakeSocket>();
  readonly urls: string[] = [];
  readonly receivedFrames: Frame[] = [];
  greeting: Greeting = 'welcome';
  /** in the greeting, in seconds */
  activityTimeout: unknown = 30;
  encodePayload: (payload: unknown) => unknown = JSON.stringify;
  /** a subscription with another `auth` gets error 4009 without a channel */
  acceptedAuth: string | null = null;
  /** status for an HTTP request to the socket's address; null means no response */
  pageStatus: number | Promise<number> | null = null;
  /** number of those requests */
  pageRequests = 0;
  /** frames sent to closing or closed sockets */
  sentTooLate = 0;
  #count = 0;

  createSocket = (url: string): WebSocket => {
    const socket = new FakeSocket(url, this);
    this.urls.push(url);
    this.sockets.add(socket);
    queueMicrotask(() => this.#greet(socket));
    return socket as unknown as WebSocket;
  };

  fetchStatus = async (): Promise<number> => {
    this.pageRequests += 1;
    if (this.pageStatus === null) throw new TypeError('Failed to fetch');
    return this.pageStatus;
  };

  #greet(socket: FakeSocket) {
    if (this.greeting === 'refused') return socket.close(1006);
    socket.open();
    if (this.greeting !== 'welcome') {
      if ('error' in this.greeting) this.#reject(socket, this.greeting.error);
      else socket.deliver({ event: 'pusher:error', data: { code: this.greeting.errorThenOpen, message: 'no' } });
      return;
    }
    this.#count += 1;
    socket.deliver({
      event: 'pusher:connection_established',
      data: { socket_id: `${this.#count}.7`, activity_timeout: this.activityTimeout },
    });
  }

  #reject(socket: FakeSocket, code: number) {
    socket.deliver({ event: 'pusher:error', data: { code, message: 'no' } });
    socket.close(code);
  }

  receive(socket: FakeSocket, frame: Frame) {
    this.receivedFrames.push(frame);
    if (frame.event === 'pusher:ping') socket.deliver({ event: 'pusher:pong', data: {} });
    if (frame.event !== 'pusher:subscribe') return;
    const { channel, auth } = frame.data as { channel: string; auth: string };
    if (this.acceptedAuth !== null && auth !== this.acceptedAuth)
      socket.deliver({ event: 'pusher:error', data: { code: 4009, message: 'unauthorized' } });
    else socket.deliver({ event: 'pusher_internal:subscription_succeeded', data: {}, channel });
  }

  /** Closes all sockets with an error code, like a server that ends them. */
  endAll(code: number) {
    for (const socket of [...this.sockets]) this.#reject(socket, code);
  }

  /** Marks the sockets as closing before their `close` event, as during the closing handshake. */
  beginClosing() {
    for (const socket of this.sockets) socket.readyState = 2;
  }

  broadcast(channel: string, event: string, data: unknown) {
    for (const socket of this.sockets) socket.deliver({ event, data, channel });
  }
}
