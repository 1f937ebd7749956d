import Echo from 'laravel-echo';
import Pusher from 'pusher-js';
import { channelAuthSchema, edgeEndpoints, isApiError, losslessJson } from '../../contract';
import { request } from '../client/request';
import { hostConfig } from '../hostConfig';
import { fetchInTurn } from '../retryPolicy';
import type { CloseReason, Link, LinkEvents } from './supervisor';

const ACTIVITY_TIMEOUT_MS = 10_000;
const PONG_TIMEOUT_MS = 5_000;
const PRIVATE = 'private-';
const STATUS_TIMEOUT_MS = 3_000;

interface EchoLinkOptions {
  userId: string;
  events: LinkEvents;
  createSocket?: (url: string) => WebSocket;
  /** Resolves to the status of an HTTP request to the path; 0 for a redirect. Rejects without a response. */
  askStatus?: (path: string) => Promise<number>;
}

interface Authorisation {
  socketId: string;
  channelName: string;
}

type Authorised = (error: Error | null, answer: { auth: string } | null) => void;

/** Address of the socket: the page's host and port unless the site configures others. */
function place() {
  const { host, port } = hostConfig().realtime;
  const ownPort = Number(location.port) || (location.protocol === 'https:' ? 443 : 80);
  return { wsHost: host ?? location.hostname, wsPort: port ?? ownPort, wssPort: port ?? ownPort };
}

async function askStatus(path: string): Promise<number> {
  const signal = AbortSignal.timeout(STATUS_TIMEOUT_MS);
  return (await fetchInTurn(path, { method: 'HEAD', cache: 'no-store', redirect: 'manual', signal })).status;
}

/** Statuses of a server that knows the address but is busy, or that expects a WebSocket upgrade (426). */
const PASSING_STATUSES = [408, 425, 426, 429];

/** Maps Pusher error codes: 4000–4099 mean that a retry fails again, except 4004 (app over capacity). */
function reasonOf(code: number): CloseReason {
  if (code === 4004) return 'unauthorized';
  return code >= 4000 && code < 4100 ? 'refused' : 'unreachable';
}

/** pusher-js sends asynchronously, when the socket may already be closing; browsers log that as an error, so drop the data. */
function sendingWhileOpen(socket: WebSocket): WebSocket {
  const send = socket.send.bind(socket);
  socket.send = (data) => {
    if (socket.readyState === WebSocket.OPEN) send(data);
  };
  return socket;
}

/** Large numbers, or a payload that was JSON-encoded twice. */
const isSpecial = /\d{16}|"data":\s*"\\"/;

/** Returns a frame whose payload is JSON within JSON, with all digits of large numbers. */
function losslessFrame(text: unknown): unknown {
  if (typeof text !== 'string' || !isSpecial.test(text)) return text;
  try {
    const { data, ...frame } = JSON.parse(losslessJson(text)) as { data?: unknown };
    const payload = typeof data === 'string' && data.startsWith('"') ? JSON.parse(data) : data;
    return JSON.stringify({ ...frame, data: typeof payload === 'string' ? losslessJson(payload) : payload });
  } catch {
    return text;
  }
}

/** pusher-js parses each frame with `JSON.parse`, which rounds numbers beyond 2^53. */
function receivingWithoutLoss(socket: WebSocket): WebSocket {
  let receive: WebSocket['onmessage'] = null;
  socket.addEventListener('message', ({ data }) =>
    receive?.call(socket, new MessageEvent('message', { data: losslessFrame(data) })),
  );
  Object.defineProperty(socket, 'onmessage', {
    set(handler: WebSocket['onmessage']) {
      receive = handler;
    },
  });
  return socket;
}

/** One Echo over one pusher-js. Connects and disconnects only on request. */
export class EchoLink implements Link {
  readonly #events: LinkEvents;
  readonly #createSocket: (url: string) => WebSocket;
  readonly #askStatus: (path: string) => Promise<number>;
  readonly #channelName: string;
  #echo: Echo<'reverb'> | null = null;
  #socket: WebSocket | null = null;
  #isWanted = false;
  #isJoining = false;
  /** The server has sent its greeting on this socket. */
  #isGreeted = false;
  /** Consecutive sockets that closed without a greeting. */
  #ungreeted = 0;

  constructor(options: EchoLinkOptions) {
    const { userId, events } = options;
    this.#events = events;
    this.#createSocket = options.createSocket ?? ((url) => new WebSocket(url));
    this.#askStatus = options.askStatus ?? askStatus;
    this.#channelName = hostConfig().realtime.channel.replace('{id}', userId);
  }

  connect() {
    this.#isWanted = true;
    this.#isGreeted = false;
    // pusher-js reports a refused socket after 15 s; the socket's own `close` event is immediate
    Object.assign(Pusher.Runtime, { createWebSocket: (url: string) => this.#open(url) });
    if (this.#echo) this.#echo.connector.pusher.connect();
    else this.#echo = this.#create();
  }

  disconnect() {
    this.#isWanted = false;
    this.#isJoining = false;
    this.#socket = null;
    this.#echo?.disconnect();
    this.#echo?.leaveChannel(this.#channelName);
  }

  join() {
    this.#isJoining = true;
    const name = this.#channelName;
    const channel = name.startsWith(PRIVATE)
      ? this.#echo?.private(name.slice(PRIVATE.length))
      : this.#echo?.channel(name);
    channel
      ?.subscribed(() => {
        this.#isJoining = false;
        this.#events.onJoined();
      })
      .error(() => this.#events.onClose('unauthorized'))
      .listenToAll((event: string, payload: unknown) => this.#events.onEvent(event, payload));
  }

  ping() {
    this.#echo?.connector.pusher.send_event('pusher:ping', {});
  }

  reauthorize() {
    const socketId = this.#echo?.socketId();
    if (!socketId) return;
    this.#askAuthorization(socketId, this.#channelName).catch((cause: unknown) => {
      const isRefused = isApiError(cause) && (cause.kind === 'unauthenticated' || cause.kind === 'forbidden');
      // a request without a response does not revoke the right to listen
      if (isRefused && this.#echo?.socketId() === socketId) this.#events.onClose('unauthorized');
    });
  }

  #open(url: string): WebSocket {
    const socket = receivingWithoutLoss(sendingWhileOpen(this.#createSocket(url)));
    this.#socket = socket;
    socket.addEventListener('close', ({ code }) => {
      if (socket !== this.#socket) return;
      if (this.#isGreeted) this.#events.onClose('unreachable');
      else if (code >= 4000) this.#events.onClose(reasonOf(code));
      else void this.#explainSilence(socket);
    });
    return socket;
  }

  /** A browser does not distinguish a refused socket from an unreachable server; an HTTP request to the same address does. */
  async #explainSilence(socket: WebSocket) {
    // pusher-js would retry meanwhile
    this.#isWanted = false;
    this.#echo?.disconnect();
    const reason = await this.#reasonOfSilence(new URL(socket.url));
    if (socket === this.#socket) this.#events.onClose(reason);
  }

  async #reasonOfSilence({ host, pathname }: URL): Promise<CloseReason> {
    this.#ungreeted += 1;
    // one failure may be a server restart; the status of another origin cannot be read
    if (this.#ungreeted === 1 || host !== location.host) return 'unreachable';
    try {
      const status = await this.#askStatus(pathname);
      return status < 500 && !PASSING_STATUSES.includes(status) ? 'refused' : 'unreachable';
    } catch {
      return 'unreachable';
    }
  }

  #create(): Echo<'reverb'> {
    const echo = new Echo({
      broadcaster: 'reverb',
      Pusher,
      key: hostConfig().realtime.key,
      ...place(),
      // on https pages pusher-js uses wss all the same
      forceTLS: false,
      enabledTransports: ['ws'],
      userAuthentication: { transport: 'ajax', endpoint: edgeEndpoints.userAuth, headers: {} },
      channelAuthorization: {
        transport: 'ajax',
        endpoint: edgeEndpoints.channelAuth,
        customHandler: (asked, callback) => this.#authorise(asked, callback),
      },
      activityTimeout: ACTIVITY_TIMEOUT_MS,
      pongTimeout: PONG_TIMEOUT_MS,
      withoutInterceptors: true,
    });
    const { connection } = echo.connector.pusher;
    connection.bind('state_change', (change: StateChange) => this.#stateChanged(change));
    connection.bind('message', () => this.#events.onActivity());
    connection.bind('error', (error: ConnectionError) => this.#failed(error));
    return echo;
  }

  #stateChanged({ previous, current }: StateChange) {
    if (!this.#isWanted) {
      // a pending retry of pusher-js may outlive `disconnect`
      queueMicrotask(() => this.#isWanted || this.#echo?.disconnect());
    } else if (current === 'connected') {
      this.#isGreeted = true;
      this.#ungreeted = 0;
      this.#events.onOpen(this.#echo?.socketId() ?? '');
    } else if (previous === 'connected' || current === 'disconnected' || current === 'failed') {
      this.#events.onClose('unreachable');
    }
  }

  #failed({ error }: ConnectionError) {
    // the error for an invalid signature names no channel
    if (this.#isJoining) return this.#events.onClose('unauthorized');
    const code = error?.data?.code ?? 0;
    // before the greeting such a code explains the refusal; smaller codes accompany the end of a connection
    if (this.#isWanted && !this.#isGreeted && code >= 4000) this.#events.onClose(reasonOf(code));
  }

  #authorise({ socketId, channelName }: Authorisation, callback: Authorised) {
    // a signature is valid for its socket only: one that arrives late must not be used on the next
    const isCurrent = () => this.#echo?.socketId() === socketId;
    this.#askAuthorization(socketId, channelName).then(
      (answer) => isCurrent() && callback(null, answer),
      () => isCurrent() && this.#events.onClose('unauthorized'),
    );
  }

  #askAuthorization(socketId: string, channelName: string) {
    const body = { socket_id: socketId, channel_name: channelName };
    return request({ baseURL: '', url: edgeEndpoints.channelAuth, method: 'POST', body, schema: channelAuthSchema });
  }
}

/** Before the greeting pusher-js wraps the server's error in its own. */
interface ConnectionError {
  error?: { data?: { code?: number } } | null;
}

interface StateChange {
  previous: string;
  current: string;
}
