import { Agent, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { createProxyServer } from 'httpxy';

const forwarded = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'forwarded'];
const backendPath = /^\/(api|sanctum|broadcasting|app)(\/|$|\?)/;

/** Shorter than any server keeps an idle connection (Node 5 s, nginx 75 s): one that it closes just as it is used again is a call lost. */
const idle = { keepAlive: true, timeout: 2000 };
const [agent, secureAgent] = [new Agent(idle), new SecureAgent(idle)];

export const isForBackend = (request: IncomingMessage) => backendPath.test(request.url ?? '');

export interface BackendProxy {
  web(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/**
 * Hands the backend's calls and its socket on, so that page, API and socket share one origin.
 * What a visitor claims in X-Forwarded-* is believed only behind a proxy of one's own (`trustProxy`).
 */
export function createBackendProxy(target: () => string, trustProxy: boolean): BackendProxy {
  const proxy = createProxyServer({ xfwd: true, proxyTimeout: 70_000 });
  const clean = (request: IncomingMessage) => {
    if (!trustProxy) for (const name of forwarded) delete request.headers[name];
    request.headers['x-forwarded-host'] ??= request.headers.host;
  };
  return {
    web(request, response) {
      clean(request);
      const to = target();
      const agents = { agent: to.startsWith('https:') ? secureAgent : agent };
      proxy.web(request, response, { target: to, ...agents }).catch(() => {
        if (response.headersSent) return response.destroy();
        response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' });
        response.end(JSON.stringify({ message: '服务暂时不可用，请稍后再试' }));
      });
    },
    upgrade(request, socket, head) {
      clean(request);
      proxy
        .ws(request, socket as Parameters<typeof proxy.ws>[1], { target: target() }, head)
        .catch(() => socket.destroy());
    },
  };
}
