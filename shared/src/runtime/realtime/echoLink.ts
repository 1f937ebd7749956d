import Echo from 'laravel-echo';
import Pusher from 'pusher-js';
import { channelAuthSchema, edgeEndpoints, isApiError, losslessJson } from '../../contract';
import { attempt } from '../../format/browser';
import { request } from '../client/request';
import { hostConfig } from '../hostConfig';
import { fetchInTurn } from '../retryPolicy';
import { session } from '../session/session';
import type { CloseReason, Link, LinkEvents } from './supervisor';

const ACTIVITY_TIMEOUT_MS = 10_000;
const PONG_TIMEOUT_MS = 5_000;
const PRIVATE_PREFIX = 'private-';
const STATUS_TIMEOUT_MS = 3_000;

interface EchoLinkOptions {
  userId: string;
  events: LinkEvents;
  createSocket?: (url: string) => WebSocket;
  /** Resolves to the status of an HTTP request to the path; 0 for a redirect. Rejects without a response. */
  fetchStatus?: (path: string) => Promise<number>;
}

type AuthorisationCallback = (error: Error | null, answer: { auth: string } | null) => void;

/** Address of the socket: the page's host and port unless the site configures others. */
function socketAddress() {
  const { host, port } = hostConfig().realtime;
  const pagePort = Number(location.port) || (location.protocol === 'https:' ? 443 : 80);
  return { wsHost: host ?? location.hostname, wsPort: port ?? pagePort, wssPort: port ?? pagePort };
}

async function fetchStatus(path: string): Promise<number> {
  const signal = AbortSignal.timeout(STATUS_TIMEOUT_MS);
  return (await fetchInTurn(path, { method: 'HEAD', cache: 'no-store', redirect: 'manual', signal })).status;
}

/** Statuses of a server that knows the address but is busy, or that expects a WebSocket upgrade (426). */
const PASSING_STATUSES = [408, 425, 426, 429];

/** Maps Pusher error codes: 4000–4099 mean that a retry fails again, except 4004 (app over capacity). */
function closeReasonOf(code: number): CloseReason {
  if (code === 4004) return 'unauthorized';
  return code >= 4000 && code < 4100 ? 'refused' : 'unreachable';
}

/** pusher-js sends asynchronously, when the socket may already be closing; browsers log that as an error, so drop the data. */
function sendOnlyWhileOpen(socket: WebSocket): WebSocket {
  const send = socket.send.bind(socket);
  socket.send = (data) => {
    if (socket.readyState === WebSocket.OPEN) send(data);
  };
  return socket;
}

const GREETING = 'pusher:connection_established';
/** Large numbers, a payload that was JSON-encoded twice, or a greeting. */
const specialFrame = new RegExp(`\\d{16}|"data":\\s*"\\\\"|${GREETING}`);

/** Returns a frame whose payload is JSON within JSON, with all digits of large numbers. */
function losslessFrame(text: string): string {
  if (!specialFrame.test(text)) return text;
  const frameText = attempt(() => {
    const { data, ...frame } = JSON.parse(losslessJson(text)) as { data?: unknown; event?: unknown };
    const payload = typeof data === 'string' && data.startsWith('"') ? JSON.parse(data) : data;
    const json = typeof payload === 'string' ? losslessJson(payload) : payload;
    return JSON.stringify({ ...frame, data: frame.event === GREETING ? withActivityTimeout(json) : json });
  });
  return frameText ?? text;
}

/** pusher-js refuses a greeting without an activity time-out, and pings without pause for one below 1 s or a word. */
function withActivityTimeout(payload: unknown) {
  const greeting = typeof payload === 'string' ? JSON.parse(payload) : payload;
  return { ...greeting, activity_timeout: greeting.activity_timeout >= 1 ? greeting.activity_timeout : 30 };
}

/** pusher-js throws on a frame that does not name its event. */
const namesEvent = /^\s*\{.*?"event"\s*:\s*"/s;

/** pusher-js parses each frame with `JSON.parse`, which rounds numbers beyond 2^53. */
function receiveWithoutLoss(socket: WebSocket): WebSocket {
  let receive: WebSocket['onmessage'] = null;
  socket.addEventListener('message', ({ data: frame }) => {
    if (!namesEvent.test(frame)) return console.warn('a frame without the name of its event was dropped');
    const data = losslessFrame(frame.trim());
    receive?.call(socket, new MessageEvent('message', { data }));
  });
  Object.defineProperty(socket, 'onmessage', {
    set(handler: WebSocket['onmessage']) {
      receive = handler;
    },
  });
  return socket;
}

/** One Echo over one pusher-js. Connects and disconnects only on request. */
export class EchoLink implements Link {
  readonly #options: Required<EchoLinkOptions>;
  readonly #events: LinkEvents;
  readonly #channelName: string;
  #echo: Echo<'reverb'> | null = null;
  #socket: WebSocket | null = null;
  #shouldBeOpen = false;
  #isJoining = false;
  /** The server has sent its greeting on this socket. */
  #isGreeted = false;
  /** Consecutive sockets that closed without a greeting. */
  #ungreetedSockets = 0;

  constructor(options: EchoLinkOptions) {
    this.#options = { createSocket: (url) => new WebSocket(url), fetchStatus, ...options };
    this.#events = options.events;
    this.#channelName = hostConfig().realtime.channel.replace('{id}', options.userId);
  }

  connect() {
    this.#shouldBeOpen = true;
    this.#isGreeted = false;
    // pusher-js reports a refused socket after 15 s; the socket's own `close` event is immediate
    Object.assign(Pusher.Runtime, { createWebSocket: (url: string) => this.#openSocket(url) });
    if (this.#echo) this.#echo.connector.pusher.connect();
    else this.#echo = this.#createEcho();
  }

  disconnect() {
    this.#shouldBeOpen = false;
    this.#isJoining = false;
    this.#socket = null;
    this.#echo?.disconnect();
    this.#echo?.leaveChannel(this.#channelName);
  }

  join() {
    this.#isJoining = true;
    const name = this.#channelName;
    const channel = name.startsWith(PRIVATE_PREFIX)
      ? this.#echo?.private(name.slice(PRIVATE_PREFIX.length))
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
    this.#requestAuthorization(socketId, this.#channelName).catch((cause: unknown) => {
      const isRefused = isApiError(cause) && (cause.kind === 'unauthenticated' || cause.kind === 'forbidden');
      // a request without a response does not revoke the right to listen
      if (isRefused && this.#echo?.socketId() === socketId) this.#events.onClose('unauthorized');
    });
  }

  #openSocket(url: string): WebSocket {
    const socket = receiveWithoutLoss(sendOnlyWhileOpen(this.#options.createSocket(url)));
    this.#socket = socket;
    socket.addEventListener('close', ({ code }) => {
      if (socket !== this.#socket) return;
      if (this.#isGreeted) this.#events.onClose('unreachable');
      else if (code >= 4000) this.#events.onClose(closeReasonOf(code));
      else void this.#reportSilentClose(socket);
    });
    return socket;
  }

  /** A browser does not distinguish a refused socket from an unreachable server; an HTTP request to the same address does. */
  async #reportSilentClose(socket: WebSocket) {
    // pusher-js would retry meanwhile
    this.#shouldBeOpen = false;
    this.#echo?.disconnect();
    const reason = await this.#findSilenceReason(new URL(socket.url));
    if (socket === this.#socket) this.#events.onClose(reason);
  }

  async #findSilenceReason({ host, pathname }: URL): Promise<CloseReason> {
    this.#ungreetedSockets += 1;
    // one failure may be a server restart; the status of another origin cannot be read
    if (this.#ungreetedSockets === 1 || host !== location.host) return 'unreachable';
    try {
      const status = await this.#options.fetchStatus(pathname);
      return status < 500 && !PASSING_STATUSES.includes(status) ? 'refused' : 'unreachable';
    } catch {
      return 'unreachable';
    }
  }

  #createEcho(): Echo<'reverb'> {
    const echo = new Echo({
      broadcaster: 'reverb',
      Pusher,
      key: hostConfig().realtime.key,
      ...socketAddress(),
      // on https pages pusher-js uses wss all the same
      forceTLS: false,
      enabledTransports: ['ws'],
      userAuthentication: { transport: 'ajax', endpoint: edgeEndpoints.userAuth, headers: {} },
      channelAuthorization: {
        transport: 'ajax',
        endpoint: edgeEndpoints.channelAuth,
        customHandler: (authorisation, callback) => this.#authorise(authorisation, callback),
      },
      activityTimeout: ACTIVITY_TIMEOUT_MS,
      pongTimeout: PONG_TIMEOUT_MS,
      withoutInterceptors: true,
    });
    const { connection } = echo.connector.pusher;
    connection.bind('state_change', (change: StateChange) => this.#handleStateChange(change));
    connection.bind('message', () => this.#events.onActivity());
    connection.bind('error', (error: ConnectionError) => this.#handleError(error));
    return echo;
  }

  #handleStateChange({ previous, current }: StateChange) {
    if (!this.#shouldBeOpen) {
      // a pending retry of pusher-js may outlive `disconnect`
      queueMicrotask(() => this.#shouldBeOpen || this.#echo?.disconnect());
    } else if (current === 'connected') {
      this.#isGreeted = true;
      this.#ungreetedSockets = 0;
      this.#events.onOpen(this.#echo?.socketId() ?? '');
    } else if (previous === 'connected' || current === 'disconnected' || current === 'failed') {
      this.#events.onClose('unreachable');
    }
  }

  #handleError({ error }: ConnectionError) {
    // the error for an invalid signature names no channel
    if (this.#isJoining) return this.#events.onClose('unauthorized');
    const code = error?.data?.code ?? 0;
    // before the greeting such a code explains the refusal; smaller codes accompany the end of a connection
    if (this.#shouldBeOpen && !this.#isGreeted && code >= 4000) this.#events.onClose(closeReasonOf(code));
  }

  #authorise({ socketId, channelName }: { socketId: string; channelName: string }, callback: AuthorisationCallback) {
    // a signature is valid for its socket only: one that arrives late must not be used on the next
    const isCurrent = () => this.#echo?.socketId() === socketId;
    this.#requestAuthorization(socketId, channelName).then(
      (authorization) => isCurrent() && callback(null, authorization),
      () => isCurrent() && this.#events.onClose('unauthorized'),
    );
  }

  async #requestAuthorization(socketId: string, channelName: string) {
    const body = { socket_id: socketId, channel_name: channelName };
    const options = { baseURL: '', method: 'POST', schema: channelAuthSchema, isOptional: true };
    try {
      return await request({ ...options, url: edgeEndpoints.channelAuth, body });
    } catch (cause) {
      // the socket may be guarded differently: only a 401 to the user's own record ends the session
      if (isApiError(cause) && cause.kind === 'unauthenticated') void session.refresh();
      throw cause;
    }
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
