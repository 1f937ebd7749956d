import type Echo from 'laravel-echo';
import { request } from '../client/client';
import { socketIdChanged } from '../client/socketId';
import { hostConfig } from '../hostConfig';

export type ReverbEcho = Echo<'reverb'>;

/** Echo and pusher-js come with the first subscription, not with the page. */
export async function createEcho(): Promise<ReverbEcho> {
  const [{ default: EchoClass }, { default: Pusher }] = await Promise.all([
    import('laravel-echo'),
    import('pusher-js'),
  ]);
  const { key, host, port } = hostConfig().realtime;
  const isHttps = location.protocol === 'https:';
  const pagePort = Number(location.port || (isHttps ? 443 : 80));
  const echo = new EchoClass({
    broadcaster: 'reverb',
    Pusher,
    key,
    wsHost: host ?? location.hostname,
    wsPort: port ?? pagePort,
    wssPort: port ?? pagePort,
    // as specified; pusher-js still takes wss on https pages, since browsers refuse ws there
    forceTLS: false,
    enabledTransports: isHttps ? ['ws', 'wss'] : ['ws'],
    activityTimeout: 10_000,
    pongTimeout: 5_000,
    channelAuthorization: {
      transport: 'ajax',
      endpoint: '/broadcasting/auth',
      customHandler: ({ socketId, channelName }, callback) => {
        request<{ auth: string }>({
          baseURL: '',
          url: '/broadcasting/auth',
          method: 'POST',
          body: { socket_id: socketId, channel_name: channelName },
        }).then(
          (auth) => callback(null, auth),
          (cause: unknown) => callback(cause instanceof Error ? cause : new Error('refused'), null),
        );
      },
    },
    userAuthentication: { transport: 'ajax', endpoint: '/broadcasting/user-auth', headers: {} },
  });
  echo.connector.pusher.connection.bind('state_change', ({ current }: { current: string }) =>
    socketIdChanged(current === 'connected' ? echo.socketId() : undefined),
  );
  return echo;
}
