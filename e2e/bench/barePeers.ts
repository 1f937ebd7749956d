import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';

// The peer of `pnpm bench server` for pages: Hono that answers fixed bytes with fixed headers, and does nothing else.
export interface FixedPage {
  path: string;
  headers: Record<string, string>;
  /** base64 */
  body: string;
}

process.once('message', (pages: FixedPage[]) => {
  const app = new Hono();
  for (const { path, headers, body } of pages) {
    const bytes = new Uint8Array(Buffer.from(body, 'base64'));
    app.get(path, (context) => context.body(bytes, 200, headers));
  }
  const listener = getRequestListener(app.fetch);
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => void listener(request, response));
  server.listen(0, '127.0.0.1', () => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
});
process.once('disconnect', () => process.exit());
