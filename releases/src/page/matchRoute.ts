import type { PageBuild } from '../model/set.ts';
import type { PageSet } from './pageSet.ts';

export type PageRoute = PageBuild['routes'][number];

const segments = (path: string): string[] => path.split('/').filter(Boolean);

const matches = (pattern: string[], path: string[]): boolean => {
  const [first, ...rest] = pattern;
  if (first === undefined) return path.length === 0;
  if (first === '*') return true;
  if (first.endsWith('?') && matches(rest, path)) return true;
  const [head, ...tail] = path;
  return head !== undefined && (first.startsWith(':') || first === head) && matches(rest, tail);
};

const weight = (pattern: string): number =>
  segments(pattern).reduce((sum, part) => sum * 4 + (part === '*' ? 1 : part.startsWith(':') ? 2 : 3), 0);

/** The most specific route of the set for a pathname, or null. */
export function matchRoute(remotes: PageSet['remotes'], pathname: string): PageRoute | null {
  const path = segments(pathname);
  const found = Object.values(remotes)
    .flatMap((remote) => remote.routes)
    .filter((route) => matches(segments(route.path), path));
  return found.sort((a, b) => weight(b.path) - weight(a.path))[0] ?? null;
}
