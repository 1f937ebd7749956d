import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

/** What goes wrong with a file on its way: no answer at all, another status, or other bytes. */
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
  /** Every answer to a path that the pattern finds goes wrong from now on. */
  breaks(path: RegExp, fault: Fault): void;
  mend(): void;
  /** Tells the product, as a proxy of its own, that what follows comes from this network: it takes so many reports from each. */
  comesFrom(network: string): void;
  /** Paths asked for since the last call, query included. */
  asked(): string[];
  /** What pages reported about builds since the last call. */
  beacons(): Beacon[];
  close(): Promise<void>;
}

const bodyOf = async (message: IncomingMessage) => {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part);
  return Buffer.concat(parts);
};

/** A plain answer: compressed bytes could not be rewritten, and a 304 has none. */
const plainly = ({ 'accept-encoding': _, 'if-none-match': __, ...headers }: IncomingMessage['headers']) => headers;

/** Stands between browsers and the product, so that faults meet the real network stack and its cache. */
export async function startFaultyFront(target: URL): Promise<FaultyFront> {
  let faults: { path: RegExp; fault: Fault }[] = [];
  let network: string | undefined;
  const asked: string[] = [];
  const beacons: Beacon[] = [];
  const sockets = new Set<Socket>();

  const pass = async (message: IncomingMessage, answer: ServerResponse, rewrite?: (body: string) => string) => {
    const told = network === undefined ? message.headers : { ...message.headers, 'x-forwarded-for': network };
    const headers = rewrite ? plainly(told) : told;
    const body = await bodyOf(message);
    if (message.url === '/beacon') beacons.push(JSON.parse(body.toString()));
    const { hostname, port } = target;
    const onward = request({ hostname, port, path: message.url, method: message.method, headers }, async (reply) => {
      if (!rewrite) {
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        // Node 24 throws where older versions call back
        if (answer.destroyed) return reply.destroy();
        // an answer that ends early does so for the page too
        return pipeline(reply, answer, () => undefined);
      }
      const { 'content-length': _, etag: __, ...kept } = reply.headers;
      const text = (await bodyOf(reply)).toString();
      answer.writeHead(reply.statusCode ?? 502, kept).end(rewrite(text));
    });
    onward.on('error', () => answer.destroy());
    onward.end(body);
  };

  const server: Server = createServer({ keepAliveTimeout: 75_000 }, (message, answer) => {
    const path = message.url ?? '/';
    asked.push(path);
    const fault = faults.find((candidate) => candidate.path.test(path))?.fault;
    if (fault === 'hang') return;
    if (fault && 'status' in fault)
      answer.writeHead(fault.status, { 'cache-control': 'no-store', ...fault.headers }).end('broken');
    // who asked may be gone
    else pass(message, answer, fault?.rewrite).catch(() => answer.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (message, socket, head) => {
    const onward = connect(Number(target.port), target.hostname, () => {
      const headers = message.rawHeaders.map((word, at) => (at % 2 ? `${word}\r\n` : `${word}: `)).join('');
      onward.write(`GET ${message.url} HTTP/1.1\r\n${headers}\r\n`);
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
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
