import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { answerRaw } from '@liaozhai/http/server';
import { forwardedHeaders, sendTo } from './upstream.ts';

const ANSWER_TIMEOUT_MS = 15_000;
/** A peer that reads nothing for this long is disconnected. */
const STALLED_PEER_MS = 10_000;

/** Sockets are closed after 24 to 30 minutes, so that an ended session gets no new one, even if the backend closes none. */
const MAX_SOCKET_MS = 30 * 60_000;
const MIN_LIFETIME_SHARE = 0.8;

interface SocketForwarding {
  /** origin of what answers sockets */
  target: string;
  /** The target is a Reverb: it has no sessions, and counts headers towards its limit of 10,000 bytes per request. */
  isReverb: boolean;
  trustsProxy: boolean;
  maxMs?: number;
  answerMs?: number;
  onOpen: () => void;
  onClose: () => void;
  /** The target answered without opening a socket. */
  onRefused: (status: number) => void;
  /** Answers if the target did not respond. */
  onUnreachable: (error: Error) => void;
}

/** Forwards a socket, or answers with the reason for the refusal. */
export function forwardSocket(request: IncomingMessage, socket: Duplex, head: Buffer, pass: SocketForwarding): void {
  const { target, isReverb, maxMs = MAX_SOCKET_MS, answerMs = ANSWER_TIMEOUT_MS } = pass;
  const headers = { ...forwardedHeaders(request, pass.trustsProxy), connection: 'Upgrade', upgrade: 'websocket' };
  if (isReverb) {
    headers.host = new URL(target).host;
    for (const name of ['cookie', 'authorization'] as const) delete headers[name];
  }
  const options = { path: request.url, headers, agent: false, timeout: answerMs };
  const upstreamRequest = sendTo(target, options, {
    onAnswer({ statusCode = 502 }) {
      pass.onRefused(statusCode);
      // a success or a redirect would hide the failure
      answerRaw(socket, statusCode < 400 ? 502 : statusCode, 'no socket here');
      upstreamRequest.destroy();
    },
    onUpgrade(answer, upstream, first) {
      socket.off('close', giveUp);
      if (socket.destroyed) return void upstream.destroy();
      const share = MIN_LIFETIME_SHARE + (1 - MIN_LIFETIME_SHARE) * Math.random();
      const timer = setTimeout(() => socket.destroy(), maxMs * share).unref();
      pass.onOpen();
      socket.once('close', () => {
        clearTimeout(timer);
        pass.onClose();
      });
      if (head.length > 0) socket.unshift(head);
      if (first.length > 0) upstream.unshift(first);
      socket.write(switchingHead(answer), 'latin1');
      // both are Node's own TCP or TLS sockets
      joinOneWay(upstream as Socket, socket as Socket);
      joinOneWay(socket as Socket, upstream as Socket);
    },
    onRefused(error) {
      if (!socket.destroyed) pass.onUnreachable(error);
    },
  });
  const giveUp = () => upstreamRequest.destroy();
  socket.on('error', () => socket.destroy());
  socket.once('close', giveUp);
  upstreamRequest.end();
}

/** The response head that opens a socket, unchanged. */
function switchingHead({ rawHeaders }: IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, at) => (at % 2 ? [] : `${name}: ${rawHeaders[at + 1]}`));
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/** Pipes one way. The end of one connection, or a peer that stops reading, ends the other. */
function joinOneWay(from: Socket, to: Socket): void {
  let timer: NodeJS.Timeout | undefined;
  const destroySoon = () => {
    timer = setTimeout(() => to.destroy(), STALLED_PEER_MS).unref();
  };
  from.setTimeout(0).setNoDelay(true).setKeepAlive(true);
  from.on('error', () => from.destroy());
  // paused by the pipe while `to` accepts nothing
  from.on('pause', destroySoon);
  from.on('resume', () => clearTimeout(timer));
  from.once('close', () => {
    clearTimeout(timer);
    to.destroySoon();
    destroySoon();
  });
  to.once('close', () => clearTimeout(timer));
  from.pipe(to);
}
