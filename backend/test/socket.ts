import { once } from 'node:events';
import { connect } from 'node:net';
import WebSocket from 'ws';
import type { Client } from './client.ts';
import type { TestBackend } from './testBackend.ts';
import type { UserDto } from './wire.ts';

export interface Frame {
  event: string;
  channel?: string;
  data?: unknown;
}

/** A bare client of the Pusher protocol that remembers every frame. */
export interface TestSocket {
  id: string;
  frames: Frame[];
  /** The frames as they came. */
  texts: string[];
  closed: Promise<{ code: number }>;
  send(frame: unknown): void;
  /** The next frame that matches, or one that came already. */
  frame(matches: (frame: Frame) => boolean): Promise<Frame>;
  /** Joins the client's own channel. */
  subscribe(): Promise<Frame>;
  ping(): Promise<Frame>;
  close(): void;
}

interface SocketOptions {
  origin?: string;
  key?: string;
  /** Where sockets are, if not at the backend. */
  url?: string;
}

const connectTo = (backend: TestBackend, { key = '%7Bkey%7D', url = backend.url, origin }: SocketOptions) =>
  new WebSocket(`${url.replace('http', 'ws')}/app/${key}?protocol=7&client=test&version=1`, { origin });

/** How the server refuses a socket: what its one frame says, and the code with which the connection ends. */
export async function refusalOf(
  backend: TestBackend,
  options: SocketOptions,
): Promise<{ error: unknown; code: number }> {
  const socket = connectTo(backend, options);
  const [[frame], [code]] = await Promise.all([once(socket, 'message'), once(socket, 'close')]);
  return { error: JSON.parse(JSON.parse(String(frame)).data), code };
}

/** Opens a socket and waits for its id; rejects with the error frame's code when it is refused. */
export async function openSocket(
  backend: TestBackend,
  client: Client,
  options: SocketOptions = {},
): Promise<TestSocket> {
  const socket = connectTo(backend, options);
  const frames: Frame[] = [];
  const texts: string[] = [];
  const waiting = new Set<() => void>();
  socket.on('message', (raw) => {
    const frame: Frame = JSON.parse(raw.toString());
    texts.push(raw.toString());
    frames.push(typeof frame.data === 'string' ? { ...frame, data: JSON.parse(frame.data) } : frame);
    for (const check of waiting) check();
  });
  const closed = new Promise<{ code: number }>((resolve) => socket.on('close', (code) => resolve({ code })));
  const frame = (matches: (frame: Frame) => boolean) =>
    new Promise<Frame>((resolve) => {
      const check = () => {
        const found = frames.find(matches);
        if (!found) return;
        waiting.delete(check);
        resolve(found);
      };
      waiting.add(check);
      check();
    });
  const first = await Promise.race([frame(() => true), failure(socket)]);
  if (first.event !== 'pusher:connection_established') throw new Error(`refused: ${JSON.stringify(first.data)}`);
  const { socket_id: id } = first.data as { socket_id: string };
  return {
    id,
    frames,
    texts,
    closed,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    frame,
    async subscribe() {
      const user = (await client.get<{ data: UserDto }>('/user')).body.data;
      const channel = `private-App.Models.User.${user.id}`;
      const { body } = await client.post<{ auth: string }>('//broadcasting/auth', {
        socket_id: id,
        channel_name: channel,
      });
      socket.send(JSON.stringify({ event: 'pusher:subscribe', data: { channel, auth: body.auth } }));
      return frame((one) => one.event === 'pusher_internal:subscription_succeeded' && one.channel === channel);
    },
    ping() {
      socket.send(JSON.stringify({ event: 'pusher:ping', data: {} }));
      return frame((one) => one.event === 'pusher:pong');
    },
    close: () => socket.close(),
  };
}

function failure(socket: WebSocket): Promise<never> {
  return new Promise((_, reject) => {
    socket.on('error', reject);
    socket.on('close', (code) => reject(new Error(`closed ${code}`)));
  });
}

/** The first line of the answer to an upgrade of that address, whatever it is; then the visitor hangs up hard. */
export async function upgrade(backend: TestBackend, address: string): Promise<string> {
  const visitor = connect(Number(new URL(backend.url).port), '127.0.0.1');
  visitor.write(`GET ${address} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  const [answer]: Buffer[] = await once(visitor, 'data');
  visitor.resetAndDestroy();
  return answer?.toString().split('\r\n')[0] ?? '';
}
