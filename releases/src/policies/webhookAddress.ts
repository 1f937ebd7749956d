import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { lookup as resolve } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { refused, usage } from '../errors.ts';
import type { SigningKey } from '../model/signing.ts';
import { say } from '../sentences.ts';

// Checks and encrypts addresses of webhooks. A person who adds one must not reach into the console's network, and a reader of the store
// must not learn the addresses.

const versionOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Returns whether an address is in one of the ranges. */
function createRangeCheck(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [net = '', prefix] = range.split('/');
    list.addSubnet(net, Number(prefix), versionOf(net));
  }
  return (address) => list.check(address, versionOf(address));
}

const isLoopback = createRangeCheck(['127.0.0.0/8', '::1/128']);
const isPublicIpv6 = createRangeCheck(['2000::/3']);
/** Addresses outside the public internet: private, shared, link-local, documentation, multicast and other reserved ones. */
const isReserved = createRangeCheck([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // of the public IPv6: those that embed an IPv4 address or are for documentation
  '2001::/32',
  '2001:db8::/32',
  '2002::/16',
]);

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** True for an address of this machine, a private network or a reserved range. */
export function isPrivateAddress(address: string): boolean {
  const plainAddress = MAPPED.exec(address)?.[1] ?? address;
  if (isIP(plainAddress) === 0) return true;
  return isReserved(plainAddress) || (isIP(plainAddress) === 6 && !isPublicIpv6(plainAddress));
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$|\.$/g, '');

export interface WebhookRules {
  /** Whether addresses of this machine and of private networks may be called. */
  allowPrivate: boolean;
  /** The console's public address, for notifications. */
  console?: string | undefined;
  /** Replaces the system's resolver. */
  resolve?: typeof resolve;
}

/** Reads RELEASES_WEBHOOKS_PRIVATE and CONSOLE_ORIGIN. Throws usage. */
export function webhookRulesFrom(environment: NodeJS.ProcessEnv = process.env): WebhookRules {
  const { RELEASES_WEBHOOKS_PRIVATE: value = 'false', CONSOLE_ORIGIN: console } = environment;
  if (value !== 'true' && value !== 'false')
    throw usage(`RELEASES_WEBHOOKS_PRIVATE is "${value}"`, 'Set it to true or false, or leave it out.');
  if (console && !URL.canParse(console))
    throw usage(
      `CONSOLE_ORIGIN is "${console}"`,
      'Set it to an origin such as https://console.example, or leave it out.',
    );
  return { allowPrivate: value === 'true', console: console || undefined };
}

/** Parses a webhook's address. Throws usage if it is malformed, refused if it is not allowed. */
export function parseWebhookUrl(text: string, { allowPrivate }: WebhookRules): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['https:', 'http:'].includes(url.protocol)) throw usage(say('notWeb', { text }), say('notWebCure'));
  if (url.username || url.password) throw usage(say('withPassword'), say('withPasswordCure'));
  const host = hostOf(url);
  const isOnLoopback = host === 'localhost' || (isIP(host) !== 0 && isLoopback(host));
  if (url.protocol === 'http:' && !isOnLoopback) throw refused(say('overHttps'), say('overHttpsCure'));
  if (!allowPrivate && (isOnLoopback || (isIP(host) !== 0 && isPrivateAddress(host))))
    throw refused(say('privateAddress', { host }), say('privateCure'));
  return url;
}

/** Checks addresses while connecting, so that a name cannot change its address between check and call (DNS rebinding). */
export const guardedLookup =
  ({ allowPrivate, resolve: lookup = resolve }: WebhookRules): LookupFunction =>
  (host, options, callback) => {
    lookup(host, { ...options, all: true }, (problem, addresses) => {
      if (problem) return callback(problem, '', 0);
      const allowedAddresses = addresses.filter(({ address }) => allowPrivate || !isPrivateAddress(address));
      const [first] = allowedAddresses;
      if (!first) return callback(new Error(say('leadsInside', { host })), '', 0);
      if (options.all) return callback(null, allowedAddresses);
      return callback(null, first.address, first.family);
    });
  };

const deriveKey = (key: SigningKey, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key.privatePem, 'liaozhai webhooks', purpose, 32));

/** Derives a webhook's secret from the store's key and the webhook's id, so that it need not be stored. */
export const secretOf = (key: SigningKey, id: string): string =>
  `whsec_${deriveKey(key, `secret ${id}`).toString('base64')}`;

/** Encrypts an address for the store: those of chat services are secrets. */
export function seal(text: string, key: SigningKey): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', deriveKey(key, 'address'), iv);
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

export function unseal(sealed: string, key: SigningKey): string {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', deriveKey(key, 'address'), bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(-16));
  return decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
}
