import { once } from 'node:events';
import { connect } from 'node:net';
import { type Frame, PusherSocket } from '../conformance/socket.ts';
import type { Client } from './client.ts';
import type { TestBackend } from './testBackend.ts';
import type { UserDto } from './wire.ts';

export type { Frame } from '../conformance/socket.ts';

/** An accepted socket, whose client can subscribe to its own channel. */
export type TestSocket = PusherSocket & { id: string; subscribe(): Promise<Frame> };

interface SocketOptions {
  origin?: string;
  key?: string;
  /** URL of the sockets, if not the backend's. */
  url?: string;
}

/** Opens a socket with a timeout beyond the test's own. */
const connectTo = (backend: TestBackend, { key = '%7Bkey%7D', url = backend.url, origin }: SocketOptions) =>
  PusherSocket.open(`${url.replace('http', 'ws')}/app/${key}?protocol=7&client=test&version=1`, {
    origin,
    timeoutMs: 600_000,
  });

/** Returns how the server refuses a socket: its error frame and the close code. */
export async function refusalOf(
  backend: TestBackend,
  options: SocketOptions,
): Promise<{ error: unknown; code: number }> {
  const socket = await connectTo(backend, options);
  return { error: socket.frames[0]?.data, code: (await socket.closed).code };
}

/** Opens a socket and waits for its id. Rejects with the error frame if it is refused. */
export async function openSocket(
  backend: TestBackend,
  client: Client,
  options: SocketOptions = {},
): Promise<TestSocket> {
  const socket = await connectTo(backend, options);
  if (socket.id === undefined) throw new Error(`refused: ${JSON.stringify(socket.frames[0]?.data)}`);
  const subscribe = async () => {
    const user = (await client.get<{ data: UserDto }>('/user')).body.data;
    const channel = `private-App.Models.User.${user.id}`;
    const request = { socket_id: socket.id, channel_name: channel };
    const { auth } = (await client.post<{ auth: string }>('//broadcasting/auth', request)).body;
    socket.send({ event: 'pusher:subscribe', data: { channel, auth } });
    return socket.frame((one) => one.event === 'pusher_internal:subscription_succeeded' && one.channel === channel);
  };
  return Object.assign(socket as PusherSocket & { id: string }, { subscribe });
}

/** Returns the status line of an upgrade request for the address, and resets the connection. */
export async function upgrade(backend: TestBackend, address: string): Promise<string> {
  const visitor = connect(Number(new URL(backend.url).port), '127.0.0.1');
  visitor.write(`GET ${address} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  const [answer]: Buffer[] = await once(visitor, 'data');
  visitor.resetAndDestroy();
  return answer?.toString().split('\r\n')[0] ?? '';
}
