import { backendSegments } from '@liaozhai/shared/contract';

/** The backend's paths other than the socket's. */
const callSegments = backendSegments.filter((segment) => segment !== 'app');
const callPath = new RegExp(`^/(${callSegments.join('|')})(/|$|\\?)`);

/** First segment of an address of the backend; undefined for any other address. */
export const callSegment = (url: string): string | undefined => callPath.exec(url)?.[1];

/**
 * Whether an address is `/app/{key}`. Refuses anything that an upstream server could read as another path, since the API that
 * publishes events is next to it at `/apps`.
 */
export function isSocketAddress(url: string): boolean {
  const segment = /^\/app\/([^/?#]+)(\?|$)/.exec(url)?.[1];
  if (segment === undefined) return false;
  try {
    return /^(?!\.+$)[^/\\?#%]+$/.test(decodeURIComponent(segment));
  } catch {
    return false;
  }
}

/** Encodings of a dot and a slash that only lenient servers decode. */
const spellings: [RegExp, string][] = [
  [/%c0%ae|%e0%80%ae|%ef%bc%8e|%u002e|%uff0e/gi, '.'],
  [/%c0%af|%e0%80%af|%ef%bc%8f|%c1%9c|%u002f|%u005c|%u2215|%uff0f/gi, '/'],
];
const DEEPEST_ENCODING = 5;

const decodeOnce = (path: string): string =>
  spellings
    .reduce((text, [spelling, plain]) => text.replace(spelling, plain), path)
    .replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** Whether a path has `.` or `..` segments in any encoding, which upstream servers would resolve differently. */
export function hasDotSegments(url: string): boolean {
  let path = url.split('?', 1)[0] ?? '';
  if (!/[.%]/.test(path)) return false;
  for (let depth = 0; depth < DEEPEST_ENCODING; depth += 1) path = decodeOnce(path);
  // some servers cut a segment at these: `..;x`, `..%00`
  return path.split(/[/\\]/).some((segment) => /^\.{1,2}(?:$|[;\s\0#?])/.test(segment));
}
