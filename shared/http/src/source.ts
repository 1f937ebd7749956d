import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import { BoundedMap } from './BoundedMap.ts';

/** IP address, host and scheme of a request, as the visitor's browser sees them. */
export interface Source {
  ip: string;
  /** Host and port; empty if the request has none, like health checks over HTTP/1.0. */
  host: string;
  scheme: 'http' | 'https';
}

/** Returns the last entry, from the nearest proxy: proxies append, so the visitor may have forged the earlier ones. */
const lastEntry = (value: string | string[] | undefined): string | undefined =>
  (Array.isArray(value) ? value.at(-1) : value)?.split(',').at(-1)?.trim() || undefined;

/** A name or an address, with or without a port; browsers send nothing else. */
const hostPattern = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** A server has few names. */
const validHosts = new BoundedMap<string, string>(100);

export function parseHost(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const known = validHosts.get(value);
  if (known) return known;
  if (!hostPattern.test(value) || !URL.canParse(`http://${value}`)) return undefined;
  validHosts.set(value, value.toLowerCase());
  return value.toLowerCase();
}

/** Some gateways append the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function parseAddress(entry = ''): string | undefined {
  const address = /^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/.exec(entry)?.slice(1).join('') ?? entry;
  return isIP(address) ? address : undefined;
}

/** `trustsProxy`: the request came through our own proxy, so its `X-Forwarded-*` headers are used. */
export function sourceOf(request: Pick<IncomingMessage, 'headers' | 'socket'>, trustsProxy: boolean): Source {
  const forwarded: IncomingMessage['headers'] = trustsProxy ? request.headers : {};
  return {
    ip: parseAddress(lastEntry(forwarded['x-forwarded-for'])) ?? request.socket.remoteAddress ?? '',
    host: parseHost(lastEntry(forwarded['x-forwarded-host'])) ?? parseHost(request.headers.host) ?? '',
    scheme: lastEntry(forwarded['x-forwarded-proto'])?.toLowerCase() === 'https' ? 'https' : 'http',
  };
}

/** The origin of a server on this machine that listens on an address. */
export const originAt = (address: string, port: number): string =>
  `http://${address === '0.0.0.0' ? '127.0.0.1' : isIPv6(address) ? `[${address}]` : address}:${port}`;

/** The origin in the visitor's address bar. */
export const originOf = ({ scheme, host }: Source): string => `${scheme}://${host}`;

/** Whether the browser's `Origin` header matches the request's host. */
export const isSameHost = (origin: string | undefined, { host }: Pick<Source, 'host'>): boolean =>
  origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;

/** The range from which one visitor can choose addresses: an IPv4 address, or the /64 of an IPv6 one. */
export function networkOf(ip: string): string {
  const address = ip.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(address)) return address;
  const [head = [], tail] = address.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = Array<string>(8 - head.length - (tail?.length ?? 0)).fill('0');
  const groups = tail ? [...head, ...zeros, ...tail] : head;
  // normalises the notation
  const prefix = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${prefix.join(':')}::/64`;
}
