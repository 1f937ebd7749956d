import type { IncomingMessage } from 'node:http';
import { isSameHost, originOf, type Source, sourceOf as sourceBehind } from '@liaozhai/http/source';

const isLoopback = (address = ''): boolean => /^(::ffff:)?127\./.test(address) || address === '::1';

/** Trusts forwarded headers only from a proxy on this machine, or, with `trustsAll`, from any peer. */
export const sourceOf = (request: Pick<IncomingMessage, 'headers' | 'socket'>, trustsAll: boolean): Source =>
  sourceBehind(request, trustsAll || isLoopback(request.socket.remoteAddress));

/** Whether an `Origin` is the product's own: a configured one, or, without any, the host of the request. */
export function isOwnOrigin(origin: string, source: Source, allowed: string[]): boolean {
  return allowed.length > 0 ? allowed.includes(origin) : isSameHost(origin, source);
}

/** Returns the origin for links to the product: the first configured one, or that of the request. */
export const productOrigin = (source: Source, configured: string[]): string => configured[0] ?? originOf(source);
