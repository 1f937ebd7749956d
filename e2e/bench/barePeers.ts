import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';

// Peers of `pnpm bench server`: Hono and Node's HTTP server, which only send fixed bytes with fixed headers.
export interface FixedAnswer {
  path: string;
  headers: Record<string, string>;
  /** base64 */
  body: string;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

function hono(answers: FixedAnswer[]): Listener {
  const app = new Hono();
  for (const { path, headers, body } of answers) {
    const bytes = new Uint8Array(Buffer.from(body, 'base64'));
    app.get(path, (context) => context.body(bytes, 200, headers));
  }
  const listener = getRequestListener(app.fetch);
  return (request, response) => void listener(request, response);
}

function node(answers: FixedAnswer[]): Listener {
  const entries = answers.map(({ path, headers, body }) => {
    const bytes = Buffer.from(body, 'base64');
    return [path, { head: Object.entries({ ...headers, 'content-length': `${bytes.length}` }).flat(), bytes }] as const;
  });
  const answersByPath = new Map(entries);
  return (request, response) => {
    const answer = answersByPath.get(request.url ?? '');
    response.writeHead(answer ? 200 : 404, answer?.head ?? []);
    response.end(answer?.bytes);
  };
}

process.once('message', ({ kind, answers }: { kind: 'hono' | 'node'; answers: FixedAnswer[] }) => {
  const server = createServer({ keepAliveTimeout: 75_000 }, { hono, node }[kind](answers));
  server.listen(0, '127.0.0.1', () => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
});
process.once('disconnect', () => process.exit());
