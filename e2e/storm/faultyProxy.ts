import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Random } from './random.ts';

/** Faults of a request, with their weights. */
const faultWeights = {
  calm: 24,
  slow: 3,
  /** the connection is closed before the request is forwarded */
  refused: 2,
  /** the connection is closed in the middle of the response */
  cut: 2,
  /** a captive portal: status 200 with a page that is not ours */
  portal: 1,
  /** incomplete JSON with a matching length */
  truncated: 1,
  failing: 2,
  /** the server gets the request twice */
  doubled: 2,
  /** no response for a while, then the connection closes */
  hanging: 1,
} as const;

type FaultName = keyof typeof faultWeights;

export interface FaultyProxy {
  origin: string;
  /** Starts or stops the faults. */
  storm(isOn: boolean): void;
  /** Number of requests for each fault. */
  counts(): Record<string, number>;
  /** Distinct calls that the product answered with status 500. */
  failures(): string[];
  stop(): Promise<void>;
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const bodyOf = async (message: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

function forward(target: number, from: IncomingMessage, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method, url, headers } = from;
    const forwardedRequest = request(
      { host: '127.0.0.1', port: target, method, path: url, headers, agent: false },
      (answer) => {
        bodyOf(answer).then(
          (answered) => resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body: answered }),
          reject,
        );
      },
    );
    forwardedRequest.on('error', reject);
    forwardedRequest.end(body);
  });
}

function sendAnswer(to: ServerResponse, { status, headers, body }: Answer) {
  const { 'transfer-encoding': _chunked, connection: _hop, ...rest } = headers;
  to.writeHead(status, { ...rest, ...(body.length > 0 && { 'content-length': body.length }) });
  to.end(body);
}

/**
 * Starts a proxy to the product at port `target`, which adds faults. Only a `fileShare` of the requests for build files is
 * affected: a page needs a dozen files, so the rate of calls would prevent it from ever loading.
 */
export async function startFaultyProxy(target: number, random: Random, fileShare: number): Promise<FaultyProxy> {
  const faultCounts: Record<string, number> = {};
  const failedCalls = new Set<string>();
  const sockets = new Set<Socket>();
  const state = { isStorming: false };

  function chooseFault(path = ''): FaultName {
    if (!state.isStorming) return 'calm';
    const isSpared = path.startsWith('/builds/') && random.next() >= fileShare;
    return isSpared ? 'calm' : random.pickWeighted(faultWeights);
  }

  async function handle(from: IncomingMessage, to: ServerResponse) {
    const body = await bodyOf(from);
    const fault = chooseFault(from.url);
    if (fault !== 'calm') faultCounts[fault] = (faultCounts[fault] ?? 0) + 1;
    switch (fault) {
      case 'slow':
        await pause(random.between(200, 3000));
        break;
      case 'refused':
        from.socket.destroy();
        return;
      case 'portal':
        to.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Welcome to the hotel</body></html>');
        return;
      case 'failing':
        to.writeHead(random.pick([419, 429, 500, 502, 503]), { 'content-type': 'application/json' }).end('{}');
        return;
      case 'hanging':
        await pause(random.between(3000, 9000));
        from.socket.destroy();
        return;
      case 'doubled':
        await forward(target, from, body);
        break;
    }
    const answer = await forward(target, from, body);
    if (answer.status === 500) failedCalls.add(`${from.method} ${from.url}: ${answer.body.toString().slice(0, 200)}`);
    if (fault === 'cut' || fault === 'truncated') {
      const half = answer.body.subarray(0, Math.floor(answer.body.length / 2));
      if (fault === 'truncated') return sendAnswer(to, { ...answer, body: half });
      to.writeHead(answer.status, { ...answer.headers, 'content-length': answer.body.length });
      to.write(half, () => from.socket.destroy());
      return;
    }
    sendAnswer(to, answer);
  }

  const server = createServer((from, to) => {
    // the product is restarting, so the connection is refused
    handle(from, to).catch(() => from.socket.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (from: IncomingMessage, socket: Socket, head: Buffer) => {
    if (chooseFault() === 'refused') return socket.destroy();
    const upstream = connect(target, '127.0.0.1', () => {
      const lines = Object.entries(from.headers).map(([name, value]) => `${name}: ${value}`);
      upstream.write(`${from.method} ${from.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    const close = () => {
      socket.destroy();
      upstream.destroy();
    };
    for (const end of [socket, upstream]) end.on('error', close).on('close', close);
    if (!state.isStorming) return;
    // most stay open; some are closed without a close frame
    if (random.next() < 0.4) setTimeout(close, random.between(1000, 20_000)).unref();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    storm(isOn) {
      state.isStorming = isOn;
    },
    counts: () => faultCounts,
    failures: () => [...failedCalls],
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
