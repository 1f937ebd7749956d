import Echo from 'laravel-echo';
import Pusher from 'pusher-js';
import { request } from '../client/request';
import { hostConfig } from '../hostConfig';
import type { Link, LinkEvents } from './link';

type ReverbEcho = Echo<'reverb'>;

const ACTIVITY_TIMEOUT_MS = 10_000;
const PONG_TIMEOUT_MS = 5_000;

interface EchoLinkOptions {
  userId: string;
  events: LinkEvents;
  createSocket?: (url: string) => WebSocket;
}

/** Where the socket is: at the page's own host and port unless the site says otherwise. */
function place() {
  const { host, port } = hostConfig().realtime;
  const ownPort = Number(location.port) || (location.protocol === 'https:' ? 443 : 80);
  return { wsHost: host ?? location.hostname, port: port ?? ownPort };
}

/** One Echo over one pusher-js; both are told when to connect and when to let go. */
export function createEchoLink({ userId, events, createSocket = (url) => new WebSocket(url) }: EchoLinkOptions): Link {
  const { key, channel } = hostConfig().realtime;
  const channelName = channel.replace('{id}', userId);
  const { wsHost, port } = place();
  let echo: ReverbEcho | null = null;
  let socket: WebSocket | null = null;
  let joining = false;
  let wanted = false;

  // pusher-js does not tell of a refused socket for 15 s; the socket itself does at once
  Object.assign(Pusher.Runtime, {
    createWebSocket: (url: string) => {
      const opened = createSocket(url);
      socket = opened;
      opened.addEventListener('close', () => opened === socket && events.onClose());
      return opened;
    },
  });

  const authorize = async ({ socketId, channelName: name }: { socketId: string; channelName: string }) =>
    request<{ auth: string }>({
      baseURL: '',
      url: '/broadcasting/auth',
      method: 'POST',
      body: { socket_id: socketId, channel_name: name },
    });

  const open = (): ReverbEcho => {
    const opened = new Echo({
      broadcaster: 'reverb',
      Pusher,
      key,
      wsHost,
      wsPort: port,
      wssPort: port,
      // on https pages pusher-js uses wss all the same
      forceTLS: false,
      enabledTransports: ['ws'],
      userAuthentication: { transport: 'ajax', endpoint: '/broadcasting/user-auth', headers: {} },
      channelAuthorization: {
        transport: 'ajax',
        endpoint: '/broadcasting/auth',
        customHandler: (params, callback) => {
          // a signature belongs to its socket: one that comes too late must not be used on the next
          const isCurrent = () => opened.socketId() === params.socketId;
          authorize(params).then(
            (answer) => isCurrent() && callback(null, answer),
            () => isCurrent() && events.onRefused(),
          );
        },
      },
      activityTimeout: ACTIVITY_TIMEOUT_MS,
      pongTimeout: PONG_TIMEOUT_MS,
      withoutInterceptors: true,
    });
    const { connection } = opened.connector.pusher;
    connection.bind('state_change', ({ previous, current }: { previous: string; current: string }) => {
      // a retry of pusher-js' own may outlive `disconnect`
      if (!wanted) return queueMicrotask(() => wanted || opened.disconnect());
      if (current === 'connected') events.onOpen(opened.socketId() ?? '');
      else if (previous === 'connected' || current === 'disconnected' || current === 'failed') events.onClose();
    });
    connection.bind('message', () => events.onActivity());
    // a bad signature is answered by an error that names no channel
    connection.bind('error', () => joining && events.onRefused());
    return opened;
  };

  const leave = () => {
    joining = false;
    echo?.leaveChannel(channelName);
  };

  return {
    connect() {
      wanted = true;
      if (echo) echo.connector.pusher.connect();
      else echo = open();
    },
    disconnect() {
      wanted = false;
      socket = null;
      echo?.disconnect();
      leave();
    },
    join() {
      joining = true;
      const isPrivate = channelName.startsWith('private-');
      const joined = isPrivate ? echo?.private(channelName.slice('private-'.length)) : echo?.channel(channelName);
      joined
        ?.subscribed(() => {
          joining = false;
          events.onJoined();
        })
        .error(() => events.onRefused())
        .listenToAll((event: string, payload: unknown) => events.onEvent(event, payload));
    },
    ping: () => echo?.connector.pusher.send_event('pusher:ping', {}),
  };
}
