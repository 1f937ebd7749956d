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

const SECOND_MS = 1_000;

/** Longer than nginx and load balancers keep an idle connection: a call on one that is just being closed is lost. */
const KEEP_ALIVE_MS = 75 * SECOND_MS;
const REQUEST_MS = 20 * SECOND_MS;
const SILENCE_MS = 90 * SECOND_MS;
/** After an answer, for the rest of a body that nobody reads. */
const LINGER_MS = 2 * SECOND_MS;
/** As much as nginx passes on (four buffers of 8 KiB). */
const HEADER_BYTES = 32 * 1024;

interface ServerOptions {
  /** Whether a request for a WebSocket belongs to `onSocket`; all others are answered as ordinary requests. */
  isSocket?: (request: IncomingMessage) => boolean;
  onSocket?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** For the whole of a request, its body included. */
  requestMs?: number;
  /** Without a byte in either direction: a reader who has stopped reading, or a handler that never answers. */
  silenceMs?: number;
}

/** What a server is doing right now. */
interface Work {
  answers: Set<ServerResponse>;
  sockets: Set<Duplex>;
}

const workOf = new WeakMap<Server, Work>();

function track<One extends ServerResponse | Duplex>(all: Set<One>, one: One): void {
  all.add(one);
  // on, not once: it is emitted once, and the wrapper of once costs each request
  one.on('close', () => all.delete(one));
}

/** Answers on a connection that has no `ServerResponse`, and closes it. */
export function answerRaw(socket: Duplex, status: number, body = '', headers: Record<string, string> = {}): void {
  const all = {
    'content-type': 'text/plain; charset=utf-8',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  // closing with unread bytes would reset the connection, and the answer would be lost with it
  socket.resume();
  destroyLater(socket);
}

/** Returns how to call it off. */
function destroyLater(socket: Duplex): () => void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  const keep = () => {
    clearTimeout(timer);
    socket.off('close', keep);
  };
  socket.on('close', keep);
  return keep;
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** As RFC 6455 has it. */
const wantsWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && (headers.upgrade ?? '').trim().toLowerCase() === 'websocket';

const upgradeHeaders = new Set(['upgrade', 'http2-settings']);

/** The head of a request as it came, without its wish to speak another protocol. */
function plainHead({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const lower = name.toLowerCase();
    if (upgradeHeaders.has(lower)) continue;
    const isKept = (token: string) => !upgradeHeaders.has(token.trim().toLowerCase());
    lines.push(`${name}: ${lower === 'connection' ? value.split(',').filter(isKept).join(',') : value}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** Asks the server the same once more, on the same connection, as an ordinary request. */
function answerPlainly(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  if (socket.destroyed) return;
  socket.unshift(Buffer.concat([plainHead(request), head]));
  server.emit('connection', socket);
}

/** A proxy's form of an address (`GET http://host/path`) becomes the usual one, and `*`, the whole server, its root. */
function toOriginForm(request: IncomingMessage): void {
  if (request.url === '*') request.url = '/';
  const [, host, path] = /^https?:\/\/([^/?#]+)(.*)$/i.exec(request.url ?? '') ?? [];
  if (host === undefined || path === undefined) return;
  request.url = path.startsWith('/') ? path : `/${path}`;
  request.headers.host = host;
}

/** One host that an address may have, as RFC 9112 wants it; HTTP/1.0 needs none. */
function namesOneHost({ headers, rawHeaders }: IncomingMessage): boolean {
  const named = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  return named.length <= 1 && (!headers.host || URL.canParse(`http://${headers.host}`));
}

/** Why a request can't be taken: a status, or null. */
function refusalOf(request: IncomingMessage): 400 | 501 | null {
  if (!namesOneHost(request)) return 400;
  // the parser undoes chunks, and no other coding
  return /^(chunked)?$/i.test(request.headers['transfer-encoding'] ?? '') ? null : 501;
}

const statusOfErrors: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/**
 * A server on which every request gets an HTTP answer, in bounded time. Proxies take a connection that ends without an answer for
 * a failure of the whole server.
 */
export function createHttpServer(
  listener: RequestListener,
  { isSocket = () => false, onSocket, requestMs = REQUEST_MS, silenceMs = SILENCE_MS }: ServerOptions = {},
): Server {
  const work: Work = { answers: new Set(), sockets: new Set() };
  const isOurs = (request: IncomingMessage): boolean => {
    toOriginForm(request);
    return onSocket !== undefined && wantsWebSocket(request) && !refusalOf(request) && isSocket(request);
  };
  const bounds = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: requestMs,
    headersTimeout: requestMs,
    connectionsCheckingInterval: SECOND_MS,
    maxHeaderSize: HEADER_BYTES,
    // Node 20 knows no such choice. Later ones read the body of an upgrade themselves, so that `answerPlainly` would lack it.
    shouldUpgradeCallback: (request: IncomingMessage) => isOurs(request) || !hasBody(request),
  };
  const server = createServer(bounds, (request, response) => {
    track(work.answers, response);
    toOriginForm(request);
    response.on('finish', () => {
      if (!request.complete) request.once('end', destroyLater(request.socket));
    });
    // Node loses what was asked behind it; a client whose connection is closed asks again
    if (request.headers.upgrade !== undefined) response.setHeader('connection', 'close');
    const refusal = refusalOf(request);
    if (refusal) response.writeHead(refusal, { connection: 'close' }).end();
    else listener(request, response);
  });
  workOf.set(server, work);
  server.setTimeout(silenceMs);
  const answersOn = (socket: Duplex) => [...work.answers].filter(({ req }) => req.socket === socket);
  server.on('upgrade', (request, socket, head) => {
    if (onSocket && isOurs(request)) {
      track(work.sockets, socket);
      return onSocket(request, socket, head);
    }
    // Node lets go of the connection before it has answered what was asked on it before
    const before = answersOn(socket).at(-1);
    if (before) before.once('close', () => answerPlainly(server, request, socket, head));
    else answerPlainly(server, request, socket, head);
  });
  server.on('connect', (_, socket) => answerRaw(socket, 405, '', { allow: 'GET, HEAD, POST, PUT, DELETE, OPTIONS' }));
  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // more bytes after a refusal are no further request
    if (refused.has(socket)) return;
    refused.add(socket);
    const isAnswered = answersOn(socket).some(({ headersSent }) => headersSent);
    if (!socket.writable || isAnswered || error.code === 'ECONNRESET') socket.destroy();
    else answerRaw(socket, statusOfErrors[error.code ?? ''] ?? 400);
  });
  return server;
}

/** For what is being answered when everything else has ended. */
const LAST_ANSWERS_MS = 300;

/**
 * Ends a server within that time: what is being answered (an upload for one) is finished while it goes on answering others. Then
 * it accepts nobody, and sockets, which no server ends itself, end.
 */
export async function closeHttpServer(server: Server, drainMs: number): Promise<void> {
  const { answers, sockets } = workOf.get(server) ?? { answers: [], sockets: [] };
  const timer = new AbortController();
  const over = wait(Math.max(LAST_ANSWERS_MS, drainMs), undefined, timer).catch(() => {});
  await Promise.race([Promise.all([...answers].map((response) => once(response, 'close'))), over]);
  const closed = new Promise((resolve) => server.close(resolve));
  const endIdle = () => {
    for (const socket of sockets) socket.destroy();
    // a connection is idle once its answer is sent, and would wait for another call
    server.closeIdleConnections();
  };
  endIdle();
  const idle = setInterval(endIdle, 50);
  void over.then(() => server.closeAllConnections());
  await closed;
  clearInterval(idle);
  timer.abort();
}
