import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { createProxyServer } from 'httpxy';
import type { Trouble } from '../trouble.ts';

/** Proxy between one browser and the product. It can cut the network, and receives reports of trouble in pages. */
export interface Front {
  origin: string;
  /** Closes every connection and refuses new ones, like airplane mode, but without changing `navigator.onLine`. */
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
  /** Holds back every document from now on, until the returned function is called. */
  holdDocuments(): () => void;
  /** Trouble reported by pages since the last call. */
  trouble(): Trouble;
  close(): Promise<void>;
}

interface Report {
  kind: keyof Trouble;
  text: string;
}

/** Not an error: Chromium up to about 103 reports that an observer's notification was deferred to the next frame. */
const isPutOff = /^ResizeObserver loop/;

/** Runs first in every document. It reports to a server that is never offline, so that no report is lost with the page. */
const watchScript = (address: string) => `(() => {
  const tell = (kind, text) => navigator.sendBeacon('${address}', JSON.stringify({ kind, text: text + ' at ' + location.pathname }));
  addEventListener('error', ({ message, error }) => ${isPutOff}.test(message) || tell('errors', error && error.stack ? message + ' ' + error.stack : message));
  addEventListener('unhandledrejection', ({ reason }) => tell('errors', 'unhandled: ' + (reason && reason.stack ? reason + ' ' + reason.stack : reason)));
  document.addEventListener('securitypolicyviolation', (event) =>
    tell('violations', event.effectiveDirective + ' ' + event.blockedURI + ' ' + event.sample));
})();`;

const hashOf = (script: string) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

/** The product's policy, plus the tests' scripts and the address to which they report. */
const withWatch = (policy: string, scripts: readonly string[], address: string) =>
  policy
    .replace('script-src', `script-src ${scripts.map(hashOf).join(' ')}`)
    .replace('connect-src', `connect-src ${address}`);

const listen = (server: Server, port = 0) =>
  new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, 'localhost', () => resolve((server.address() as AddressInfo).port));
  });

/** Creates a server whose `end` also closes open connections, including WebSockets. */
function createEndableServer() {
  const server = createServer({ keepAliveTimeout: 75_000 });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const end = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { server, end };
}

/** Starts the proxy. `scripts` run in order in every document, before the page's own. */
export async function startFront(target: string, scripts: readonly string[] = []): Promise<Front> {
  let trouble: Trouble = { violations: [], errors: [] };
  const watcher = createEndableServer();
  watcher.server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    const { kind, text: what } = JSON.parse(await text(request)) as Report;
    trouble[kind].push(what);
    response.writeHead(204).end();
  });
  const address = `http://localhost:${await listen(watcher.server)}`;
  const added = [watchScript(address), ...scripts];
  const tags = added.map((script) => `<script>${script}</script>`).join('');

  const proxy = createProxyServer({ target, selfHandleResponse: true });
  proxy.on('proxyRes', async (reply, _, response) => {
    const headers = { ...reply.headers };
    const policy = headers['content-security-policy'];
    if (typeof policy === 'string') headers['content-security-policy'] = withWatch(policy, added, address);
    const isDocument = headers['content-type']?.startsWith('text/html') && reply.statusCode !== 304;
    if (!isDocument) {
      response.writeHead(reply.statusCode ?? 502, headers);
      reply.on('error', () => response.destroy()).pipe(response);
      return;
    }
    const html = await text(reply).catch(() => null);
    if (html === null) return response.destroy();
    delete headers['content-length'];
    response.writeHead(reply.statusCode ?? 502, headers).end(html.replace('<head>', `<head>${tags}`));
  });

  const { server, end } = createEndableServer();
  let held: Promise<void> | undefined;
  server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers.accept?.startsWith('text/html')) await held;
    // builds stay compressed as in production; documents must be readable to be changed
    if (!request.url?.startsWith('/builds/')) delete request.headers['accept-encoding'];
    proxy.web(request, response).catch(() => response.destroy());
  });
  server.on('upgrade', (request, socket, head) => {
    proxy.ws(request, socket as Socket, {}, head).catch(() => socket.destroy());
  });
  const port = await listen(server);
  return {
    origin: `http://localhost:${port}`,
    goOffline: end,
    holdDocuments() {
      let letGo = () => {};
      held = new Promise((resolve) => {
        letGo = resolve;
      });
      return () => {
        held = undefined;
        letGo();
      };
    },
    goOnline: async () => void (await listen(server, port)),
    trouble: () => {
      const told = trouble;
      trouble = { violations: [], errors: [] };
      return told;
    },
    close: async () => {
      await Promise.all([end(), watcher.end()]);
    },
  };
}
