import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  request as send,
} from 'node:http';
import { request as sendSecurely } from 'node:https';
import type { Duplex } from 'node:stream';
import { sourceOf } from '@liaozhai/http/source';

/** An error response in the backend's format, so that the page shows it and retries. */
export const refusal = (status: 502 | 503 | 504, message = '服务暂时不可用，请稍后再试', retryAfterSeconds = 1) => ({
  status,
  headers: { 'content-type': 'application/json', 'retry-after': String(retryAfterSeconds) },
  body: JSON.stringify({ message }),
});

export type Refusal = ReturnType<typeof refusal>;

class TimeoutError extends Error {}

/** 503: unreachable. 504: timed out. 502: not HTTP, or broken off. */
export function refusalFor(error: Error): Refusal {
  if (error instanceof TimeoutError) return refusal(504);
  const { syscall } = error as NodeJS.ErrnoException;
  return refusal(syscall === 'connect' || syscall === 'getaddrinfo' ? 503 : 502);
}

/** Headers of one connection, which are not forwarded. */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
];

/** Headers that `Connection` cannot remove. */
const protectedHeaders = ['host', 'content-length', 'cookie', 'authorization'];

/** Returns the headers to forward. */
export function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const connectionHeaders = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const removedHeaders = new Set([
    ...hopByHop,
    ...connectionHeaders.filter((name) => !protectedHeaders.includes(name)),
  ]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !removedHeaders.has(name)));
}

/**
 * Returns a request's headers for the upstream, with the visitor's source. The visitor's own forwarding headers are removed, and
 * so are names with `_`: PHP reads `X_Forwarded_Host` as `X-Forwarded-Host`.
 */
export function forwardedHeaders(request: IncomingMessage, trustsProxy: boolean): IncomingHttpHeaders {
  const { ip, host, scheme } = sourceOf(request, trustsProxy);
  const all = Object.entries(endToEnd(request.headers));
  return {
    ...Object.fromEntries(all.filter(([name]) => !/^(x-)?forwarded|_/.test(name))),
    'x-forwarded-for': ip,
    'x-forwarded-host': host,
    'x-forwarded-proto': scheme,
    'x-forwarded-port': /:(\d+)$/.exec(host)?.[1] ?? (scheme === 'https' ? '443' : '80'),
  };
}

interface Outcomes {
  onAnswer: (answer: IncomingMessage) => void;
  /** If left out, a protocol switch is refused. */
  onUpgrade?: (answer: IncomingMessage, socket: Duplex, first: Buffer) => void;
  onRefused: (error: Error) => void;
}

/** Other transfer codings would be lost with their header. */
const isPlain = (answer: IncomingMessage) => /^(chunked|identity)?$/i.test(answer.headers['transfer-encoding'] ?? '');

/**
 * Sends a request over http or https, and calls exactly one of the outcomes. `timeout` bounds, in ms, the wait for the response's
 * head and each silence after it.
 */
export function sendTo(
  target: string,
  options: RequestOptions & { timeout: number },
  outcomes: Outcomes,
): ClientRequest {
  const { onAnswer, onUpgrade, onRefused } = outcomes;
  const sent = target.startsWith('https:') ? sendSecurely(target, options) : send(target, options);
  let isSettled = false;
  const settle = (then: () => void) => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    then();
  };
  const timeOut = () => sent.destroy(new TimeoutError());
  let timer: NodeJS.Timeout | undefined;
  sent.once('finish', () => {
    if (!isSettled) timer = setTimeout(timeOut, options.timeout);
  });
  sent.on('response', (answer) => {
    const { statusCode = 0 } = answer;
    if (statusCode >= 200 && statusCode <= 599 && isPlain(answer)) return settle(() => onAnswer(answer));
    answer.destroy();
    settle(() => onRefused(new Error(`an answer that can't be passed on: ${statusCode}`)));
  });
  sent.on('upgrade', (answer, socket, first) => {
    if (onUpgrade && answer.headers.upgrade?.toLowerCase() === 'websocket')
      return settle(() => onUpgrade(answer, socket, first));
    socket.destroy();
    settle(() => onRefused(new Error('a protocol that was not requested')));
  });
  sent.on('timeout', timeOut);
  sent.on('error', (error) => settle(() => onRefused(error)));
  sent.on('close', () => settle(() => onRefused(new Error('closed without an answer'))));
  return sent;
}
