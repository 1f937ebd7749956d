import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';

/** Where a request came from, as the visitor's browser sees it. */
export interface Source {
  ip: string;
  /** Host and port; empty where the request named none, as health checks over HTTP/1.0 do. */
  host: string;
  scheme: 'http' | 'https';
}

type Headers = Record<string, string | string[] | undefined>;

/** The last entry is the nearest proxy's: proxies append, so anything before it may be the visitor's own invention. */
const nearest = (value: string | string[] | undefined): string | undefined =>
  (Array.isArray(value) ? value.at(-1) : value)?.split(',').at(-1)?.trim() || undefined;

/** A name or an address, with or without a port: what else stands there came from no browser. */
const plainHost = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

const hostIn = (value: string | undefined): string | undefined =>
  value !== undefined && plainHost.test(value) ? value.toLowerCase() : undefined;

/** `trustsProxy`: the request came through a proxy of ours, so its `X-Forwarded-*` headers count. */
export function sourceOf(request: Pick<IncomingMessage, 'headers' | 'socket'>, trustsProxy: boolean): Source {
  const forwarded: Headers = trustsProxy ? request.headers : {};
  const peer = request.socket.remoteAddress ?? '';
  const client = nearest(forwarded['x-forwarded-for']);
  return {
    ip: client && isIP(client) ? client : peer,
    host: hostIn(nearest(forwarded['x-forwarded-host'])) ?? hostIn(request.headers.host) ?? '',
    scheme: nearest(forwarded['x-forwarded-proto']) === 'https' ? 'https' : 'http',
  };
}

/** The origin in the visitor's address bar. */
export const originOf = ({ scheme, host }: Source): string => `${scheme}://${host}`;

/** Whether a browser's `Origin` header names the host that the request was made to. */
export const isSameHost = (origin: string | undefined, { host }: Pick<Source, 'host'>): boolean =>
  origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;

/** The addresses among which one visitor may choose: an IPv4 address, or the /64 around an IPv6 one. */
export function networkOf(ip: string): string {
  const plain = ip.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(plain)) return plain;
  const [head = [], tail] = plain.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = Array<string>(8 - head.length - (tail?.length ?? 0)).fill('0');
  const groups = tail ? [...head, ...zeros, ...tail] : head;
  // one notation, however it was written
  const prefix = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${prefix.join(':')}::/64`;
}
