import Echo from 'laravel-echo';
import Pusher from 'pusher-js';
import { channelAuthSchema, edgeEndpoints } from '../../contract';
import { request } from '../client/client';
import { hostConfig } from '../hostConfig';
import type { Link, LinkEvents } from './link';

const ACTIVITY_TIMEOUT_MS = 10_000;
const PONG_TIMEOUT_MS = 5_000;
const PRIVATE = 'private-';

interface EchoLinkOptions {
  userId: string;
  events: LinkEvents;
  createSocket?: (url: string) => WebSocket;
}

interface Authorisation {
  socketId: string;
  channelName: string;
}

type Authorised = (error: Error | null, answer: { auth: string } | null) => void;

/** Where the socket is: at the page's own host and port unless the site says otherwise. */
function place() {
  const { host, port } = hostConfig().realtime;
  const ownPort = Number(location.port) || (location.protocol === 'https:' ? 443 : 80);
  return { wsHost: host ?? location.hostname, wsPort: port ?? ownPort, wssPort: port ?? ownPort };
}

/** One Echo over one pusher-js, which connect and let go only when told to. */
export class EchoLink implements Link {
  readonly #events: LinkEvents;
  readonly #createSocket: (url: string) => WebSocket;
  readonly #channelName: string;
  #echo: Echo<'reverb'> | null = null;
  #socket: WebSocket | null = null;
  #isWanted = false;
  #isJoining = false;

  constructor({ userId, events, createSocket = (url) => new WebSocket(url) }: EchoLinkOptions) {
    this.#events = events;
    this.#createSocket = createSocket;
    this.#channelName = hostConfig().realtime.channel.replace('{id}', userId);
  }

  connect() {
    this.#isWanted = true;
    // pusher-js does not tell of a refused socket for 15 s; the socket itself does at once
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
      .error(() => this.#events.onRefused())
      .listenToAll((event: string, payload: unknown) => this.#events.onEvent(event, payload));
  }

  ping() {
    this.#echo?.connector.pusher.send_event('pusher:ping', {});
  }

  #open(url: string): WebSocket {
    const socket = this.#createSocket(url);
    this.#socket = socket;
    socket.addEventListener('close', () => {
      if (socket === this.#socket) this.#events.onClose();
    });
    return socket;
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
    // a bad signature is answered by an error that names no channel
    connection.bind('error', () => this.#isJoining && this.#events.onRefused());
    return echo;
  }

  #stateChanged({ previous, current }: StateChange) {
    if (!this.#isWanted) {
      // a retry of pusher-js' own may outlive `disconnect`
      queueMicrotask(() => this.#isWanted || this.#echo?.disconnect());
    } else if (current === 'connected') {
      this.#events.onOpen(this.#echo?.socketId() ?? '');
    } else if (previous === 'connected' || current === 'disconnected' || current === 'failed') {
      this.#events.onClose();
    }
  }

  #authorise({ socketId, channelName }: Authorisation, callback: Authorised) {
    // a signature belongs to its socket: one that comes too late must not be used on the next
    const isCurrent = () => this.#echo?.socketId() === socketId;
    const body = { socket_id: socketId, channel_name: channelName };
    request({ baseURL: '', url: edgeEndpoints.channelAuth, method: 'POST', body, schema: channelAuthSchema }).then(
      (answer) => isCurrent() && callback(null, answer),
      () => isCurrent() && this.#events.onRefused(),
    );
  }
}

interface StateChange {
  previous: string;
  current: string;
}
