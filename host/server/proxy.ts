import { Agent, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { backendSegments } from '@liaozhai/shared/contract';
import { createProxyServer } from 'httpxy';
import { type FrontCounters, type Log, nameRoute } from './telemetry.ts';

const forwarded = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'forwarded'];
/** The backend's paths other than the socket's. */
const callSegments = backendSegments.filter((segment) => segment !== 'app');
const callPath = new RegExp(`^/(${callSegments.join('|')})(/|$|\\?)`);

/** Shorter than any server keeps an idle connection (Node 5 s, nginx 75 s): one that it closes just as it is used again is a call lost. */
const idle = { keepAlive: true, timeout: 2000 };
const [agent, secureAgent] = [new Agent(idle), new SecureAgent(idle)];

/** Sockets end after 24 to 30 minutes: a session that ended meanwhile gets no new one, also where the backend closes none. */
const longestSocketMs = 30 * 60_000;
const shortestShare = 0.8;

/**
 * Whether an address is `/app/{key}`. Nothing that a server behind us could read as another path,
 * since the API that publishes events lies beside it at `/apps`.
 */
function isSocketAddress(url: string): boolean {
  const segment = /^\/app\/([^/?#]+)(\?|$)/.exec(url)?.[1];
  if (segment === undefined) return false;
  try {
    return /^(?!\.+$)[^/\\?#%]+$/.test(decodeURIComponent(segment));
  } catch {
    return false;
  }
}

const restarting = '服务正在重新启动，请稍候再试';

interface BackendProxyOptions {
  /** origin of the backend right now */
  backend: () => string;
  /** Seconds until a backend that ended runs again; null while it runs. */
  awaySeconds?: () => number | null;
  log: Log;
  counters?: FrontCounters | null;
  /** origin of a Reverb that answers the socket in the backend's stead */
  reverb?: string;
  /** Believe X-Forwarded-*, which a proxy of one's own has set. */
  trustProxy: boolean;
  longestSocketMs?: number;
}

/** Refuses a call in the shape of the backend's own errors, so that the page says it and tries again. */
function refuse(response: ServerResponse, message: string, retryAfterSeconds: number): void {
  response.writeHead(503, { 'content-type': 'application/json', 'retry-after': String(retryAfterSeconds) });
  response.end(JSON.stringify({ message }));
}

export interface BackendProxy {
  /** Answers a request that is the backend's; false leaves it to others. */
  web(request: IncomingMessage, response: ServerResponse, requestId: string): boolean;
  /** Hands a socket on; any but the backend's is closed. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** Hands the backend's calls and its socket on, so that page, API and socket share one origin. */
export function createBackendProxy(options: BackendProxyOptions): BackendProxy {
  const { backend, reverb, trustProxy, log, counters, awaySeconds = () => null } = options;
  const proxy = createProxyServer({ xfwd: true, proxyTimeout: 70_000, upgradeTimeout: 15_000 });
  const clean = (request: IncomingMessage) => {
    if (!trustProxy) for (const name of forwarded) delete request.headers[name];
    request.headers['x-forwarded-host'] ??= request.headers.host;
  };
  const refusals = new Set<number | undefined>();
  proxy.on('proxyReqWs', (asked) => {
    asked.once('response', ({ statusCode }) => {
      counters?.upstreamErrors.inc({ reason: 'socket_refused' });
      if (refusals.has(statusCode)) return;
      refusals.add(statusCode);
      const cure = reverb ? '' : '. If Reverb listens on an address of its own, name it with REVERB_URL';
      log.warn(`The socket is refused: ${reverb ?? backend()}/app/… answers ${statusCode}${cure}`);
    });
  });
  return {
    web(request, response, requestId) {
      const { url = '' } = request;
      const isSocket = isSocketAddress(url);
      const segment = isSocket ? 'app' : callPath.exec(url)?.[1];
      if (segment === undefined) return false;
      nameRoute(request, `/${segment}/*`);
      response.setHeader('x-request-id', requestId);
      if (isSocket && reverb) {
        // Reverb answers a plain request with 500; the page asks to learn whether there is a socket at all
        response.writeHead(426, { connection: 'Upgrade', upgrade: 'websocket' }).end();
        return true;
      }
      const seconds = awaySeconds();
      if (seconds !== null) {
        counters?.upstreamErrors.inc({ reason: 'restarting' });
        refuse(response, restarting, seconds);
        return true;
      }
      clean(request);
      const target = backend();
      const agents = { agent: target.startsWith('https:') ? secureAgent : agent };
      proxy.web(request, response, { target, ...agents }).catch(() => {
        // a visitor who goes away ends the call as well
        if (!response.destroyed)
          counters?.upstreamErrors.inc({ reason: response.headersSent ? 'cut_off' : 'unreachable' });
        if (response.headersSent) return response.destroy();
        const soon = awaySeconds();
        if (soon === null) refuse(response, '服务暂时不可用，请稍后再试', 1);
        else refuse(response, restarting, soon);
      });
      return true;
    },
    upgrade(request, socket, head) {
      if (!isSocketAddress(request.url ?? '')) return void socket.destroy();
      clean(request);
      if (reverb) {
        // it knows no session, and counts headers among the 10,000 bytes a request may have
        for (const name of ['cookie', 'authorization']) delete request.headers[name];
      }
      const lifeMs =
        (options.longestSocketMs ?? longestSocketMs) * (shortestShare + (1 - shortestShare) * Math.random());
      // only an error makes the proxy let go of the other end as well
      const timer = setTimeout(() => socket.destroy(new Error('socket is too old')), lifeMs).unref();
      counters?.sockets.inc();
      socket.once('close', () => {
        clearTimeout(timer);
        counters?.sockets.dec();
      });
      proxy
        .ws(
          request,
          socket as Parameters<typeof proxy.ws>[1],
          reverb ? { target: reverb, changeOrigin: true } : { target: backend() },
          head,
        )
        .catch(() => socket.destroy());
    },
  };
}
