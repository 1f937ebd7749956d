import { pageSet } from './page';

const leastMs = 2500;
/** A phone may sleep while the host's script is on its way. */
const mostMs = 30_000;

/** By the browser's own estimate: there a small file may take seconds while others share the way with it. */
const slowNetworkMs: Record<string, number> = { '3g': 6000, '2g': 15_000, 'slow-2g': mostMs };

/** Not every browser tells. */
type Connection = { effectiveType?: string };

/** How long the host's own script, larger than any file of a remote, was on its way; 0 from a cache. */
function hostMs(): number {
  const { href } = new URL(pageSet.host.entry, location.href);
  return performance.getEntriesByName(href)[0]?.duration ?? 0;
}

/** How long a file may take, ms, before it counts as hanging: 2.5 s, and up to 30 s where the network itself is slow. */
export function patienceMs(): number {
  const { connection } = navigator as Navigator & { connection?: Connection };
  const neededMs = Math.max(slowNetworkMs[connection?.effectiveType ?? ''] ?? 0, hostMs());
  return Math.min(Math.max(leastMs, neededMs), mostMs);
}
