import { type CacheState, READY, STORAGE_KEYS, type VitalsReport } from '@liaozhai/shared/contract';
import { local, readJson } from '@liaozhai/shared/runtime';
import { type CLSMetric, type INPMetric, type LCPMetric, onCLS, onINP, onLCP } from 'web-vitals';
import { reportHidden, sendReport } from './beacon';
import type { GuardedHistory } from './navigation';
import type { Page } from './page';
import { routeAt } from './routes';
import { tabs } from './shell/TabBar';

type Vital = VitalsReport['vitals'][number];

/** Fits the server's size limit with ids of the usual length. */
const MOST_VITALS = 18;
const MOST_KEPT = 40;

/**
 * Measures the reader's web vitals, and reports them when the page is hidden: each value once, credited to the host's build and
 * to that of the remote whose screen was visible. Call when idle; the browser still has earlier entries. Returns the stop
 * function.
 */
export function watchVitals({ set, routes, remotes }: Page, navigation: GuardedHistory): () => void {
  // previews of unreleased builds are not measured
  if (set.override) return () => undefined;
  const screens = watchScreens(navigation);
  const cacheStateOf = keepRanBuilds(set.host.id);
  const reported = new Set<string>();
  let waiting: Vital[] = [];

  const remoteAt = (time: number) => {
    const { source } = routeAt(routes, screens.at(time));
    return source.kind === 'remote' ? remotes.activeBuild(source.remote)?.id : undefined;
  };
  const note = (metric: Vital['metric'], value: number, builds: readonly string[]) => {
    const [, remote = set.host.id] = builds;
    for (const build of builds) waiting.push({ build, metric, value, cache: cacheStateOf(remote) });
  };
  const onceFor = ({ name, value, entries }: CLSMetric | INPMetric | LCPMetric, time: number) => {
    // a page restored from the back/forward cache measures again
    if (reported.has(name)) return;
    reported.add(name);
    const remote = remoteAt(entries.length > 0 ? time : 0);
    const rounded = name === 'CLS' ? Number(value.toFixed(4)) : Math.round(value);
    note(metrics[name], rounded, [set.host.id, ...(remote ? [remote] : [])]);
  };
  onLCP((metric) => onceFor(metric, 0));
  onINP((metric) => onceFor(metric, metric.entries[0]?.startTime ?? 0));
  onCLS((metric) => onceFor(metric, largest(metric)));

  const takeLoads = () => {
    for (const { name, duration } of performance.getEntriesByType('measure')) {
      if (!name.startsWith(READY) || reported.has(name)) continue;
      reported.add(name);
      const build = name.slice(READY.length);
      waiting.push({ build, metric: 'load', value: Math.round(duration), cache: cacheStateOf(build) });
    }
  };
  // registered after the listeners of web-vitals, which report the last values at the document
  return reportHidden(() => {
    takeLoads();
    const vitals = waiting.slice(0, MOST_VITALS);
    waiting = [];
    if (vitals.length > 0) sendReport({ vitals });
  });
}

const metrics = { LCP: 'lcp', INP: 'inp', CLS: 'cls' } as const;

/** Time of the worst shift in the page's worst window of shifts. */
const largest = ({ entries }: CLSMetric) =>
  entries.reduce((worst, entry) => (entry.value > worst.value ? entry : worst), { value: 0, startTime: 0 }).startTime;

/** Records which path was visible at a time of `performance.now()`. */
function watchScreens(navigation: GuardedHistory) {
  const pathname = () => navigation.current().location.pathname;
  const [document] = performance.getEntriesByType('navigation');
  const opened = document ? new URL(document.name, location.href).pathname : pathname();
  const seen = [
    { from: 0, path: opened === '/' ? tabs[0].path : opened },
    { from: performance.now(), path: pathname() },
  ];
  navigation.subscribe(() => seen.push({ from: performance.now(), path: pathname() }));
  return { at: (time: number) => seen.findLast(({ from }) => from <= time)?.path ?? pathname() };
}

/**
 * Stores on this device which builds ran here, so that only like pages are compared: a build's first load over the network is
 * slower than one from the cache.
 */
function keepRanBuilds(host: string): (build: string) => CacheState {
  const stored = readJson(STORAGE_KEYS.ranBuilds);
  const former = Array.isArray(stored) ? stored.filter((id): id is string => typeof id === 'string') : [];
  const values = new Set(former);
  return (build) => {
    const newest = new Set([host, build, ...values]);
    for (const id of newest) values.add(id);
    local.set(STORAGE_KEYS.ranBuilds, JSON.stringify([...newest].slice(0, MOST_KEPT)));
    const [isHostKept, isBuildKept] = [former.includes(host), former.includes(build)];
    if (isHostKept !== isBuildKept) return 'mixed';
    return isHostKept ? 'warm' : 'cold';
  };
}
