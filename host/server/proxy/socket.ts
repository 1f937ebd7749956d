import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { answerRaw } from '@liaozhai/http/server';
import { forwardedHeaders, sendTo } from './upstream.ts';

const ANSWER_MS = 15_000;
/** A peer that reads nothing for this long is disconnected. */
const DEAF_MS = 10_000;

/** Sockets are closed after 24 to 30 minutes, so that an ended session gets no new one, even if the backend closes none. */
const LONGEST_MS = 30 * 60_000;
const SHORTEST_SHARE = 0.8;

interface SocketPass {
  /** origin of what answers sockets */
  target: string;
  /** The target is a Reverb: it has no sessions, and counts headers towards its limit of 10,000 bytes per request. */
  isReverb: boolean;
  trustsProxy: boolean;
  longestMs?: number;
  answerMs?: number;
  opened: () => void;
  closed: () => void;
  /** The target answered without opening a socket. */
  refused: (status: number) => void;
  /** Answers if the target did not respond. */
  unreachable: (error: Error) => void;
}

/** Forwards a socket, or answers with the reason for the refusal. */
export function passSocket(request: IncomingMessage, socket: Duplex, head: Buffer, pass: SocketPass): void {
  const { target, isReverb, longestMs = LONGEST_MS, answerMs = ANSWER_MS } = pass;
  const headers = { ...forwardedHeaders(request, pass.trustsProxy), connection: 'Upgrade', upgrade: 'websocket' };
  if (isReverb) {
    headers.host = new URL(target).host;
    for (const name of ['cookie', 'authorization'] as const) delete headers[name];
  }
  const options = { path: request.url, headers, agent: false, timeout: answerMs };
  const sent = sendTo(target, options, {
    answered({ statusCode = 502 }) {
      pass.refused(statusCode);
      // a success or a redirect would hide the failure
      answerRaw(socket, statusCode < 400 ? 502 : statusCode, 'no socket here');
      sent.destroy();
    },
    switched(answer, upstream, first) {
      socket.off('close', giveUp);
      if (socket.destroyed) return void upstream.destroy();
      const share = SHORTEST_SHARE + (1 - SHORTEST_SHARE) * Math.random();
      const timer = setTimeout(() => socket.destroy(), longestMs * share).unref();
      pass.opened();
      socket.once('close', () => {
        clearTimeout(timer);
        pass.closed();
      });
      if (head.length > 0) socket.unshift(head);
      if (first.length > 0) upstream.unshift(first);
      socket.write(switchingHead(answer), 'latin1');
      // both are Node's own TCP or TLS sockets
      joinOneWay(upstream as Socket, socket as Socket);
      joinOneWay(socket as Socket, upstream as Socket);
    },
    refused(error) {
      if (!socket.destroyed) pass.unreachable(error);
    },
  });
  const giveUp = () => sent.destroy();
  socket.on('error', () => socket.destroy());
  socket.once('close', giveUp);
  sent.end();
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
    timer = setTimeout(() => to.destroy(), DEAF_MS).unref();
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
