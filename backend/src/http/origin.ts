import type { IncomingMessage } from 'node:http';
import { isSameHost, originOf, type Source, sourceOf as sourceBehind } from '@liaozhai/http/source';

const isLoopback = (address = ''): boolean => /^(::ffff:)?127\./.test(address) || address === '::1';

/** Forwarded headers count only from a proxy on this machine, or where nobody but a proxy reaches this server. */
export const sourceOf = (request: Pick<IncomingMessage, 'headers' | 'socket'>, trustsAll: boolean): Source =>
  sourceBehind(request, trustsAll || isLoopback(request.socket.remoteAddress));

/** Whether a browser's `Origin` is this product's own: a configured one, or the host the request was made to. */
export function isOwnOrigin(origin: string, source: Source, allowed: string[]): boolean {
  return allowed.length > 0 ? allowed.includes(origin) : isSameHost(origin, source);
}

/** Where readers find the product, for links that lead back to it: the first configured origin, or the one they asked from. */
export const productOrigin = (source: Source, configured: string[]): string => configured[0] ?? originOf(source);
