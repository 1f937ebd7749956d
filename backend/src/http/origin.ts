import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';

/** Where a request came from, as the visitor's browser sees it. */
export interface Source {
  ip: string;
  host: string;
  scheme: 'http' | 'https';
}

/** What the nearest proxy wrote: it appends, so anything further left may be the visitor's own invention. */
const nearest = (value: string | string[] | undefined): string | undefined =>
  (Array.isArray(value) ? value.at(-1) : value)?.split(',').at(-1)?.trim();

const isLoopback = (address: string): boolean => /^(::ffff:)?127\./.test(address) || address === '::1';

/** Forwarded headers count only from a proxy on this machine, or where nobody but a proxy reaches this server. */
export function sourceOf(request: Pick<IncomingMessage, 'headers' | 'socket'>, trustsAll: boolean): Source {
  const peer = request.socket.remoteAddress ?? '';
  const forwarded: IncomingHttpHeaders = trustsAll || isLoopback(peer) ? request.headers : {};
  const client = nearest(forwarded['x-forwarded-for']);
  return {
    ip: client && isIP(client) ? client : peer,
    host: nearest(forwarded['x-forwarded-host']) ?? request.headers.host ?? '',
    scheme: nearest(forwarded['x-forwarded-proto']) === 'https' ? 'https' : 'http',
  };
}

/** What one visitor may choose addresses from: an IPv4 address, or the /64 that an IPv6 one lies in. */
export function networkOf(ip: string): string {
  const plain = ip.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(plain)) return plain;
  const [head = [], tail] = plain.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = Array<string>(8 - head.length - (tail?.length ?? 0)).fill('0');
  const groups = tail ? [...head, ...zeros, ...tail] : head;
  // written alike, however it came
  const prefix = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${prefix.join(':')}::/64`;
}

/** Whether a browser's `Origin` is this product's own: a configured one, or the host the request was made to. */
export function isOwnOrigin(origin: string, source: Source, allowed: string[]): boolean {
  if (allowed.length > 0) return allowed.includes(origin);
  return URL.canParse(origin) && new URL(origin).host === source.host;
}

/** Where readers find the product, for links that lead back to it: the first configured origin, or the one they asked from. */
export const productOrigin = ({ scheme, host }: Source, configured: string[]): string =>
  configured[0] ?? `${scheme}://${host}`;
