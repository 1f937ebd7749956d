import type { IncomingHttpHeaders } from 'node:http';
import fresh from 'fresh';
import Negotiator from 'negotiator';
import { BoundedMap } from './BoundedMap.ts';

export type Encoding = 'br' | 'gzip' | 'identity';

/** The package's types lack the option `preferred`, which ranks equal weights. */
type Ranking = (available: readonly string[], options: { preferred: readonly string[] }) => string[];

const ENCODINGS: readonly Encoding[] = ['br', 'gzip', 'identity'];
/** Browsers send only a handful of different headers. */
const encodingCache = new BoundedMap<string, Encoding>(100);

/**
 * Selects the response encoding by RFC 9110: the client's weights first, then the smaller encoding. A client that refuses all
 * encodings gets `identity`.
 */
export function encodingFor(accept: string | undefined = ''): Encoding {
  const cached = encodingCache.get(accept);
  if (cached) return cached;
  const negotiator = new Negotiator({ headers: { 'accept-encoding': accept } });
  const [bestName] = (negotiator.encodings as Ranking)(ENCODINGS, { preferred: ENCODINGS });
  const encoding = ENCODINGS.find((name) => name === bestName) ?? 'identity';
  encodingCache.set(accept, encoding);
  return encoding;
}

/**
 * Whether the client already has this version, so that 304 without a body is the response. A request's `Cache-Control` is for
 * caches and is ignored.
 */
export function isFresh({ 'if-none-match': match }: IncomingHttpHeaders, etag: string): boolean {
  return match !== undefined && fresh({ 'if-none-match': match }, { etag });
}
