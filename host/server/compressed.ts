import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

export interface CompressedBody {
  etag: string;
  body: Buffer;
  encoding: 'br' | 'gzip' | null;
}

const kept = 200;
const cache = new Map<string, Buffer>();

function compress(text: string, encoding: 'br' | 'gzip'): Buffer {
  if (encoding === 'gzip') return gzipSync(text);
  return brotliCompressSync(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 6, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
  });
}

/** Compresses a page once per content; most visitors get the same bytes. */
export function compressed(text: string, accept: string): CompressedBody {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 27);
  const encoding = /\bbr\b/.test(accept) ? 'br' : /\bgzip\b/.test(accept) ? 'gzip' : null;
  const etag = `"${hash}${encoding ? `-${encoding}` : ''}"`;
  if (!encoding) return { etag, body: Buffer.from(text), encoding };
  const body = cache.get(etag) ?? compress(text, encoding);
  cache.delete(etag);
  cache.set(etag, body);
  const oldest = cache.keys().next().value;
  if (cache.size > kept && oldest) cache.delete(oldest);
  return { etag, body, encoding };
}
