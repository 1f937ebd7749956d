import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { answerRaw } from '@liaozhai/http/server';
import { backendSegments } from '@liaozhai/shared/contract';
import type { ProductOptions } from '../product.ts';
import { nameRoute } from '../telemetry.ts';
import { forwardCall } from './call.ts';
import { forwardSocket } from './socket.ts';
import { type Refusal, refusal, refusalFor } from './upstream.ts';

interface BackendProxyOptions extends Pick<ProductOptions, 'secondsUntilRestart' | 'log' | 'counters'> {
  /** current origin of the backend */
  backend: () => string;
  /** origin of a Reverb that serves the socket instead of the backend */
  reverb?: string;
  /** Trust X-Forwarded-*, which the operator's own proxy sets. */
  trustProxy: boolean;
  maxSocketMs?: number;
  /** longest time until a response begins */
  answerMs?: number;
}

/** Forwards calls and the socket to the backend, so that page, API and socket share one origin. */
export function createBackendProxy(options: BackendProxyOptions) {
  const { backend, reverb, trustProxy: trustsProxy, log, counters, secondsUntilRestart = () => null } = options;
  /** Refusal while the backend is restarting; null while it runs. */
  const restartRefusal = (): Refusal | null => {
    const seconds = secondsUntilRestart();
    return seconds === null ? null : refusal(503, '服务正在重新启动，请稍候再试', seconds);
  };
  const count = (reason: string) => counters?.upstreamErrors.inc({ reason });
  const loggedStatuses = new Set<number>();
  const logRefusedSocket = (status: number) => {
    count('socket_refused');
    if (loggedStatuses.has(status)) return;
    loggedStatuses.add(status);
    const cure = reverb ? '' : '. If Reverb listens on an address of its own, name it with REVERB_URL';
    log.warn(`The socket is refused: ${reverb ?? backend()}/app/… answers ${status}${cure}`);
  };
  return {
    /** Answers a request for the backend. Returns false for any other. */
    web(request: IncomingMessage, response: ServerResponse, requestId: string): boolean {
      const { url = '' } = request;
      const isSocket = isSocketAddress(url);
      const segment = isSocket ? 'app' : callSegment(url);
      const isUnclear = hasDotSegments(url);
      if (segment === undefined && !isUnclear) return false;
      if (segment) nameRoute(request, `/${segment}/*`);
      response.setHeader('x-request-id', requestId);
      const refuse = ({ status, headers, body }: Refusal) => response.writeHead(status, headers).end(body);
      const currentRefusal = restartRefusal();
      if (isUnclear) response.writeHead(400, { 'content-type': 'text/plain' }).end('dot segments in the path');
      // Reverb answers a plain request with 500; the page sends one to find out whether there is a socket
      else if (isSocket && reverb) response.writeHead(426, { connection: 'Upgrade', upgrade: 'websocket' }).end();
      else if (currentRefusal) {
        count('restarting');
        refuse(currentRefusal);
      } else
        forwardCall(request, response, {
          target: backend(),
          trustsProxy,
          answerMs: options.answerMs,
          refuse(error) {
            count('unreachable');
            refuse(restartRefusal() ?? refusalFor(error));
          },
        });
      return true;
    },
    isSocket: ({ url = '' }: IncomingMessage) => isSocketAddress(url),
    /** Forwards a socket, or answers with the reason for the refusal. */
    socket(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      forwardSocket(request, socket, head, {
        target: reverb ?? backend(),
        isReverb: reverb !== undefined,
        trustsProxy,
        maxMs: options.maxSocketMs,
        answerMs: options.answerMs,
        onOpen: () => counters?.sockets.inc(),
        onClose: () => counters?.sockets.dec(),
        onRefused: logRefusedSocket,
        onUnreachable(error) {
          count('unreachable');
          const { status, headers, body } = restartRefusal() ?? refusalFor(error);
          answerRaw(socket, status, body, headers);
        },
      });
    },
  };
}

const callPath = new RegExp(`^/(${backendSegments.filter((segment) => segment !== 'app').join('|')})(/|$|\\?)`);

/** First segment of an address of the backend other than the socket's; undefined for any other address. */
const callSegment = (url: string): string | undefined => callPath.exec(url)?.[1];

/**
 * Whether an address is `/app/{key}`. Refuses anything that an upstream server could read as another path, since the API that
 * publishes events is next to it at `/apps`.
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

/** Encodings of a dot and a slash that only lenient servers decode. */
const spellings: [RegExp, string][] = [
  [/%c0%ae|%e0%80%ae|%ef%bc%8e|%u002e|%uff0e/gi, '.'],
  [/%c0%af|%e0%80%af|%ef%bc%8f|%c1%9c|%u002f|%u005c|%u2215|%uff0f/gi, '/'],
];
const DEEPEST_ENCODING = 5;

const decodeOnce = (path: string): string =>
  spellings
    .reduce((text, [spelling, plain]) => text.replace(spelling, plain), path)
    .replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** Whether a path has `.` or `..` segments in any encoding, which upstream servers would resolve differently. */
function hasDotSegments(url: string): boolean {
  let path = url.split('?', 1)[0] ?? '';
  if (!/[.%]/.test(path)) return false;
  for (let depth = 0; depth < DEEPEST_ENCODING; depth += 1) path = decodeOnce(path);
  // some servers cut a segment at these: `..;x`, `..%00`
  return path.split(/[/\\]/).some((segment) => /^\.{1,2}(?:$|[;\s\0#?])/.test(segment));
}
