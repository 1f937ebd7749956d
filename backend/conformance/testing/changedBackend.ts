import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll } from '@rstest/core';
import { WebSocket, WebSocketServer } from 'ws';
import { openBackend } from '../../test/testBackend.ts';
import type { Call } from '../calls.ts';
import { conform } from '../conform.ts';

// Backends with one deviation from the contract each, made of the reference backend.

export const backend = await openBackend({ STORYTELLER_START_DELAY_MS: '100', STORYTELLER_PIECE_DELAY_MS: '10' });
const socketUrl = backend.url.replace('http', 'ws');

interface ReceivedResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}
export type Change = (response: ReceivedResponse, request: IncomingMessage) => Partial<ReceivedResponse>;

/** Applies a change to the JSON of successful responses whose path matches. */
export const json =
  <Body>(path: RegExp, change: (body: Body) => unknown): Change =>
  ({ body, status }, { url = '' }) =>
    path.test(url) && body && status < 300 ? { body: JSON.stringify(change(JSON.parse(body))) } : {};
export const header =
  (path: RegExp, name: string, value: string): Change =>
  ({ headers }, { url = '' }) =>
    path.test(url) ? { headers: { ...headers, [name]: value } } : {};
/** Replaces the body of refusals of one status. */
export const refusal =
  (status: number, change: (body: Record<string, unknown>) => unknown): Change =>
  (received) =>
    received.status === status ? { body: JSON.stringify(change(JSON.parse(received.body))) } : {};
/** Changes a request before it is forwarded. */
export type Before = (incoming: { path: string; headers: IncomingHttpHeaders; body: string }) => void;

/** Starts a proxy that applies one change to the reference backend. */
export async function frontOf(change: Change, before: Before = () => undefined) {
  const server = createServer((incoming, response) => void passOn(incoming, response));
  async function passOn(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = {
      path: incoming.url ?? '/',
      headers: { ...incoming.headers },
      body: (await buffer(incoming)).toString(),
    };
    before(sent);
    sent.headers.host = new URL(backend.url).host;
    sent.headers['content-length'] = String(Buffer.byteLength(sent.body));
    const onward = request(new URL(sent.path, backend.url), { method: incoming.method, headers: sent.headers });
    onward.end(sent.body);
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    const bytes = await buffer(answer);
    const received = { status: answer.statusCode ?? 0, headers: answer.headers, body: bytes.toString() };
    const other = answer.headers['content-type']?.includes('json') ? change(received, incoming) : {};
    const { 'content-length': _, 'transfer-encoding': __, ...headers } = other.headers ?? received.headers;
    response.writeHead(other.status ?? received.status, headers).end(other.body ?? bytes);
  }
  await once(server.listen(0, '127.0.0.1'), 'listening');
  afterAll(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const failures = async (target: { url?: string; socketUrl?: string }, ...only: Call[]) => {
  const whole = { url: backend.url, origin: backend.url, socketUrl, key: '{key}', runs: 0, ...target };
  const { results } = await conform(whole, { only });
  return results.filter(({ outcome }) => outcome !== 'holds').map(({ call, name }) => ({ call, name }));
};

/** Starts a socket proxy that changes frames. */
export async function socketFront(fromServer: (text: string, client: WebSocket) => string | null) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  afterAll(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  server.on('connection', (client, { url, headers: { origin } }) => {
    const onward = new WebSocket(`${socketUrl}${url}`, { origin });
    const early: string[] = [];
    onward.on('open', () => {
      for (const text of early) onward.send(text);
    });
    client.on('message', (raw) =>
      onward.readyState === WebSocket.OPEN ? onward.send(raw.toString()) : early.push(raw.toString()),
    );
    onward.on('message', (raw) => {
      const text = fromServer(raw.toString(), client);
      if (text !== null) client.send(text);
    });
    onward.on('close', () => isEnding(client) || client.close());
    client.on('close', () => onward.terminate());
  });
  const isEnding = (client: WebSocket) => staysOpen.has(client);
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
export const staysOpen = new WeakSet<WebSocket>();
