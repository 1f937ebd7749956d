import { lookup } from 'mrmime';

const COMPRESSED = /\.(?:m?js|css|html|json|svg|txt|webmanifest)$/;

/** The media type a build's file is served with, or null if its ending is unknown. */
export function contentType(path: string): string | null {
  const type = lookup(path);
  if (!type) return null;
  return type.startsWith('text/') || type.endsWith('json') || type === 'image/svg+xml'
    ? `${type}; charset=utf-8`
    : type;
}

/** True for files that are stored compressed as well. */
export const isCompressed = (path: string): boolean => COMPRESSED.test(path);

/** The headers every file of a build is served with; encodings are chosen per request. */
export function buildFileHeaders(path: string): Record<string, string> {
  return {
    'content-type': contentType(path) ?? 'application/octet-stream',
    'cache-control': 'public, max-age=31536000, immutable',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    ...(isCompressed(path) ? { vary: 'Accept-Encoding' } : {}),
  };
}
