import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { parseHost } from './source.ts';

const SECOND_MS = 1_000;

/** Longer than the idle timeout of nginx and load balancers: a request on a connection that is just closing is lost. */
const KEEP_ALIVE_MS = 75 * SECOND_MS;
const REQUEST_TIMEOUT_MS = 20 * SECOND_MS;
const SILENCE_MS = 90 * SECOND_MS;
/** Time after a response for the rest of an unread request body. */
const LINGER_MS = 2 * SECOND_MS;
/** The limit of nginx (four buffers of 8 KiB). */
const HEADER_BYTES = 32 * 1024;

interface ServerOptions {
  /** Whether a WebSocket request belongs to `onSocket`; all others are answered as ordinary requests. */
  isSocket?: (request: IncomingMessage) => boolean;
  onSocket?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Limit for a whole request, including its body. */
  requestMs?: number;
  /** Limit without a byte in either direction: a client that stopped reading, or a handler that never responds. */
  silenceMs?: number;
}

/** Responses and sockets in progress. */
interface Work {
  responses: Set<ServerResponse>;
  sockets: Set<Duplex>;
}

const workByServer = new WeakMap<Server, Work>();

function track<Item extends ServerResponse | Duplex>(items: Set<Item>, item: Item): void {
  items.add(item);
  // `on`, not `once`: `close` is emitted only once, and the wrapper of `once` would cost each request
  item.on('close', () => items.delete(item));
}

/** Writes a response to a connection without a `ServerResponse`, and closes it. */
export function answerRaw(socket: Duplex, status: number, body = '', headers: Record<string, string> = {}): void {
  const allHeaders = {
    'content-type': 'text/plain; charset=utf-8',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  // closing with unread bytes would reset the connection and lose the response
  socket.resume();
  destroyLater(socket);
}

/** Returns the cancel function. */
function destroyLater(socket: Duplex): () => void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  const cancel = () => {
    clearTimeout(timer);
    socket.off('close', cancel);
  };
  socket.on('close', cancel);
  return cancel;
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Whether the client left before its request was complete, which is no failure of the server. */
export const isBrokenOff = ({ destroyed, complete }: IncomingMessage): boolean => destroyed && !complete;

/** As in RFC 6455. */
const isWebSocketRequest = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && (headers.upgrade ?? '').trim().toLowerCase() === 'websocket';

const upgradeHeaders = new Set(['upgrade', 'http2-settings']);

/** The request's original head without the headers for a protocol upgrade. */
function plainHead({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    const lower = name.toLowerCase();
    if (upgradeHeaders.has(lower)) continue;
    const isPlainToken = (token: string) => !upgradeHeaders.has(token.trim().toLowerCase());
    lines.push(`${name}: ${lower === 'connection' ? value.split(',').filter(isPlainToken).join(',') : value}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** Lets the server parse the request again on the same connection, as an ordinary one. */
function replayWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  if (socket.destroyed) return;
  socket.unshift(Buffer.concat([plainHead(request), head]));
  server.emit('connection', socket);
}

/** Converts the absolute form of proxies (`GET http://host/path`) to the origin form, and `*` to `/`. */
function toOriginForm(request: IncomingMessage): void {
  if (request.url === '*') request.url = '/';
  const [, host, path] = /^https?:\/\/([^/?#]+)(.*)$/i.exec(request.url ?? '') ?? [];
  if (host === undefined || path === undefined) return;
  request.url = path.startsWith('/') ? path : `/${path}`;
  request.headers.host = host;
}

/** Whether the request names one valid host, as RFC 9112 requires; HTTP/1.0 needs none. */
function hasValidHost({ headers, rawHeaders }: IncomingMessage): boolean {
  const hostHeaders = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  return hostHeaders.length <= 1 && (!headers.host || parseHost(headers.host) !== undefined);
}

/** Status for a request that cannot be accepted, or null. */
function refusalStatus(request: IncomingMessage): 400 | 501 | null {
  if (!hasValidHost(request)) return 400;
  // the parser decodes `chunked` and no other transfer coding
  return /^(chunked)?$/i.test(request.headers['transfer-encoding'] ?? '') ? null : 501;
}

const statusByErrorCode: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/**
 * Creates a server that answers each request in limited time. Proxies treat a connection that closes without a response as a
 * failure of the whole server.
 */
export function createHttpServer(
  listener: RequestListener,
  { isSocket = () => false, onSocket, requestMs = REQUEST_TIMEOUT_MS, silenceMs = SILENCE_MS }: ServerOptions = {},
): Server {
  const work: Work = { responses: new Set(), sockets: new Set() };
  const isAcceptedUpgrade = (request: IncomingMessage): boolean => {
    toOriginForm(request);
    return onSocket !== undefined && isWebSocketRequest(request) && !refusalStatus(request) && isSocket(request);
  };
  const serverOptions = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: requestMs,
    headersTimeout: requestMs,
    connectionsCheckingInterval: SECOND_MS,
    maxHeaderSize: HEADER_BYTES,
    // Ignored by Node 20. Later versions would consume the body of an upgrade, which `replayWithoutUpgrade` needs.
    shouldUpgradeCallback: (request: IncomingMessage) => isAcceptedUpgrade(request) || !hasBody(request),
  };
  const server = createServer(serverOptions, (request, response) => {
    track(work.responses, response);
    toOriginForm(request);
    response.on('finish', () => {
      if (!request.complete) request.once('end', destroyLater(request.socket));
    });
    // Node loses requests pipelined behind an upgrade; after a closed connection the client sends them again
    if (request.headers.upgrade !== undefined) response.setHeader('connection', 'close');
    const refusal = refusalStatus(request);
    if (refusal) response.writeHead(refusal, { connection: 'close' }).end();
    else listener(request, response);
  });
  workByServer.set(server, work);
  server.setTimeout(silenceMs);
  const responsesOn = (socket: Duplex) => [...work.responses].filter(({ req }) => req.socket === socket);
  server.on('upgrade', (request, socket, head) => {
    if (onSocket && isAcceptedUpgrade(request)) {
      track(work.sockets, socket);
      return onSocket(request, socket, head);
    }
    // Node releases the connection before it has answered earlier requests on it
    const pendingResponse = responsesOn(socket).at(-1);
    if (pendingResponse) pendingResponse.once('close', () => replayWithoutUpgrade(server, request, socket, head));
    else replayWithoutUpgrade(server, request, socket, head);
  });
  server.on('connect', (_, socket) => answerRaw(socket, 405, '', { allow: 'GET, HEAD, POST, PUT, DELETE, OPTIONS' }));
  const refusedSockets = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // further bytes after a refusal are not a new request
    if (refusedSockets.has(socket)) return;
    refusedSockets.add(socket);
    const hasStartedResponse = responsesOn(socket).some(({ headersSent }) => headersSent);
    if (!socket.writable || hasStartedResponse || error.code === 'ECONNRESET') socket.destroy();
    else answerRaw(socket, statusByErrorCode[error.code ?? ''] ?? 400);
  });
  return server;
}

/** Returns one line with the settings to correct if a server could not listen; null for any other error. */
export function listenProblem(error: unknown, hostSetting: string, portSetting: string): string | null {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return `${portSetting}: in use by another program; name another one, or 0 for a free one (${message})`;
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return null;
  return `${hostSetting}: ${message}. Name an address of this machine, and a ${portSetting} that this user may open`;
}

/** For responses that are still in progress after everything else has ended. */
const LAST_ANSWERS_MS = 300;

/**
 * Closes a server within `drainMs`. Finishes the responses in progress (e.g. an upload) while still accepting requests. Then it
 * stops listening and destroys the sockets, which Node would keep open.
 */
export async function closeHttpServer(server: Server, drainMs: number): Promise<void> {
  const { responses, sockets } = workByServer.get(server) ?? { responses: [], sockets: [] };
  const timer = new AbortController();
  const timeout = wait(Math.max(LAST_ANSWERS_MS, drainMs), undefined, timer).catch(() => {});
  await Promise.race([Promise.all([...responses].map((response) => once(response, 'close'))), timeout]);
  const serverClosed = new Promise((resolve) => server.close(resolve));
  const endIdle = () => {
    for (const socket of sockets) socket.destroy();
    // a keep-alive connection becomes idle after its response and would wait for another request
    server.closeIdleConnections();
  };
  endIdle();
  const idleTimer = setInterval(endIdle, 50);
  void timeout.then(() => server.closeAllConnections());
  await serverClosed;
  clearInterval(idleTimer);
  timer.abort();
}
