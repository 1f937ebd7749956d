import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

/** Fault of a response: none at all, another status, or a changed body. */
export type Fault =
  | 'hang'
  | { status: number; headers?: Record<string, string> }
  | { rewrite: (body: string) => string };

interface Beacon {
  build: string;
  outcome: string;
  failure?: string;
}

export interface FaultyFront {
  origin: string;
  /** From now on, every response to a matching path fails. */
  breaks(path: RegExp, fault: Fault): void;
  mend(): void;
  /** Sets `X-Forwarded-For` for later requests, because the product limits reports by network. */
  comesFrom(network: string): void;
  /** Paths requested since the last call, with their query. */
  asked(): string[];
  /** Reports of pages about builds since the last call. */
  beacons(): Beacon[];
  close(): Promise<void>;
}

const bodyOf = async (message: IncomingMessage) => {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part);
  return Buffer.concat(parts);
};

/** Removes headers that lead to a compressed body or to a 304, neither of which can be rewritten. */
const withoutCompression = ({ 'accept-encoding': _, 'if-none-match': __, ...headers }: IncomingMessage['headers']) =>
  headers;

/** Starts a proxy between browsers and the product, so that faults use the real network stack and cache. */
export async function startFaultyFront(target: URL): Promise<FaultyFront> {
  let faults: { path: RegExp; fault: Fault }[] = [];
  let network: string | undefined;
  const asked: string[] = [];
  const beacons: Beacon[] = [];
  const sockets = new Set<Socket>();

  const forward = async (message: IncomingMessage, answer: ServerResponse, rewrite?: (body: string) => string) => {
    const forwardedHeaders =
      network === undefined ? message.headers : { ...message.headers, 'x-forwarded-for': network };
    const headers = rewrite ? withoutCompression(forwardedHeaders) : forwardedHeaders;
    const body = await bodyOf(message);
    if (message.url === '/beacon') beacons.push(JSON.parse(body.toString()));
    const { hostname, port } = target;
    const forwardedRequest = request(
      { hostname, port, path: message.url, method: message.method, headers },
      async (reply) => {
        if (!rewrite) {
          answer.writeHead(reply.statusCode ?? 502, reply.headers);
          // Node 24 throws for a destroyed response; older versions report it in the callback
          if (answer.destroyed) return reply.destroy();
          // a truncated response is truncated for the page, too
          return pipeline(reply, answer, () => undefined);
        }
        const { 'content-length': _, etag: __, ...replyHeaders } = reply.headers;
        const text = (await bodyOf(reply)).toString();
        answer.writeHead(reply.statusCode ?? 502, replyHeaders).end(rewrite(text));
      },
    );
    forwardedRequest.on('error', () => answer.destroy());
    forwardedRequest.end(body);
  };

  const server: Server = createServer({ keepAliveTimeout: 75_000 }, (message, answer) => {
    const path = message.url ?? '/';
    asked.push(path);
    const fault = faults.find((candidate) => candidate.path.test(path))?.fault;
    if (fault === 'hang') return;
    if (fault && 'status' in fault)
      answer.writeHead(fault.status, { 'cache-control': 'no-store', ...fault.headers }).end('broken');
    // the client may have disconnected
    else forward(message, answer, fault?.rewrite).catch(() => answer.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (message, socket, head) => {
    const upstream = connect(Number(target.port), target.hostname, () => {
      const headers = message.rawHeaders.map((word, at) => (at % 2 ? `${word}\r\n` : `${word}: `)).join('');
      upstream.write(`GET ${message.url} HTTP/1.1\r\n${headers}\r\n`);
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    origin: `http://localhost:${port}`,
    breaks: (path, fault) => void faults.push({ path, fault }),
    mend: () => {
      faults = [];
    },
    comesFrom: (name) => {
      network = name;
    },
    asked: () => asked.splice(0),
    beacons: () => beacons.splice(0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
