import { isIPv6 } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';

/** What the nearest proxy wrote: it appends, so anything further left may be the visitor's own invention. */
const nearest = (value: string | undefined) => value?.split(',').at(-1)?.trim();

/** An owner of one IPv6 address owns the whole /64 around it. */
function network(address: string): string {
  const plain = address.replace(/^::ffff:(?=.*\.)/, '');
  if (!isIPv6(plain)) return plain;
  return (plain.split('::')[0] ?? '').split(':').slice(0, 4).join(':');
}

/** Whether the visitor came by https; X-Forwarded-Proto is believed only behind a proxy of one's own (`trustProxy`). */
export const isHttps = (context: Context, trustProxy: boolean): boolean =>
  new URL(context.req.url).protocol === 'https:' ||
  (trustProxy && nearest(context.req.header('x-forwarded-proto')) === 'https');

/** The network a request comes from; X-Forwarded-For is believed only behind a proxy of one's own (`trustProxy`). */
export function networkOf(context: Context, trustProxy: boolean): string {
  const told = trustProxy ? nearest(context.req.header('x-forwarded-for')) : undefined;
  return network(told || (getConnInfo(context).remote.address ?? ''));
}
