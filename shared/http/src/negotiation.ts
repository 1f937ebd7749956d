import type { IncomingHttpHeaders } from 'node:http';
import fresh from 'fresh';
import Negotiator from 'negotiator';
import { BoundedMap } from './BoundedMap.ts';

export type Encoding = 'br' | 'gzip' | 'identity';

/** Its types do not know yet that equals can be ranked. */
type Ranking = (available: readonly string[], options: { preferred: readonly string[] }) => string[];

const ENCODINGS: readonly Encoding[] = ['br', 'gzip', 'identity'];
/** Browsers send a handful of different headers. */
const chosen = new BoundedMap<string, Encoding>(100);

/**
 * The encoding to answer in by RFC 9110: the reader's weights first, the smaller one of equals. A reader who refuses all, the plain
 * text included, gets that.
 */
export function encodingFor(accept: string | undefined = ''): Encoding {
  const cached = chosen.get(accept);
  if (cached) return cached;
  const negotiator = new Negotiator({ headers: { 'accept-encoding': accept } });
  const [first] = (negotiator.encodings as Ranking)(ENCODINGS, { preferred: ENCODINGS });
  const encoding = ENCODINGS.find((name) => name === first) ?? 'identity';
  chosen.set(accept, encoding);
  return encoding;
}

/**
 * Whether the reader has this version already, so that 304 without a body is the answer. `Cache-Control` of a request is for caches,
 * and does not count here.
 */
export function isFresh({ 'if-none-match': match }: IncomingHttpHeaders, etag: string): boolean {
  return match !== undefined && fresh({ 'if-none-match': match }, { etag });
}
