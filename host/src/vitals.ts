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
const MAX_VITALS = 18;
const MAX_STORED_BUILDS = 40;

/**
 * Measures the reader's web vitals, and reports them when the page is hidden: each value once, credited to the host's build and
 * to that of the remote whose screen was visible. Call when idle; the browser still has earlier entries. Returns the stop
 * function.
 */
export function watchVitals({ set, routes, remotes }: Page, navigation: GuardedHistory): () => void {
  // previews of unreleased builds are not measured
  if (set.override) return () => undefined;
  const screens = watchScreens(navigation);
  const cacheStateOf = trackRanBuilds(set.host.id);
  const reportedNames = new Set<string>();
  let pendingVitals: Vital[] = [];

  const remoteAt = (time: number) => {
    const { source } = routeAt(routes, screens.at(time));
    return source.kind === 'remote' ? remotes.activeBuild(source.remote)?.id : undefined;
  };
  const addOnce = ({ name, value, entries }: CLSMetric | INPMetric | LCPMetric, time: number) => {
    // a page restored from the back/forward cache measures again
    if (reportedNames.has(name)) return;
    reportedNames.add(name);
    const remote = remoteAt(entries.length > 0 ? time : 0) ?? set.host.id;
    const vital = {
      metric: name.toLowerCase() as Lowercase<typeof name>,
      value: name === 'CLS' ? Number(value.toFixed(4)) : Math.round(value),
    };
    for (const build of new Set([set.host.id, remote]))
      pendingVitals.push({ ...vital, build, cache: cacheStateOf(remote) });
  };
  onLCP((metric) => addOnce(metric, 0));
  onINP((metric) => addOnce(metric, metric.entries[0]?.startTime ?? 0));
  onCLS((metric) => addOnce(metric, largestShiftTime(metric)));

  const collectLoads = () => {
    for (const { name, duration } of performance.getEntriesByType('measure')) {
      if (!name.startsWith(READY) || reportedNames.has(name)) continue;
      reportedNames.add(name);
      const build = name.slice(READY.length);
      pendingVitals.push({ build, metric: 'load', value: Math.round(duration), cache: cacheStateOf(build) });
    }
  };
  // registered after the listeners of web-vitals, which report the last values at the document
  return reportHidden(() => {
    collectLoads();
    const vitals = pendingVitals.slice(0, MAX_VITALS);
    pendingVitals = [];
    if (vitals.length > 0) sendReport({ vitals });
  });
}

/** Time of the worst shift in the page's worst window of shifts. */
const largestShiftTime = ({ entries }: CLSMetric) =>
  entries.reduce((worst, entry) => (entry.value > worst.value ? entry : worst), { value: 0, startTime: 0 }).startTime;

/** Records which path was visible at a time of `performance.now()`. */
function watchScreens(navigation: GuardedHistory) {
  const pathname = () => navigation.current().location.pathname;
  const [timing] = performance.getEntriesByType('navigation');
  const openedPath = timing ? new URL(timing.name, location.href).pathname : pathname();
  const visits = [
    { from: 0, path: openedPath === '/' ? tabs[0].path : openedPath },
    { from: performance.now(), path: pathname() },
  ];
  navigation.subscribe(() => visits.push({ from: performance.now(), path: pathname() }));
  return { at: (time: number) => visits.findLast(({ from }) => from <= time)?.path ?? pathname() };
}

/**
 * Stores on this device which builds ran here, so that only like pages are compared: a build's first load over the network is
 * slower than one from the cache.
 */
function trackRanBuilds(host: string): (build: string) => CacheState {
  const ids = readJson(STORAGE_KEYS.ranBuilds);
  const earlierBuilds = Array.isArray(ids) ? ids.filter((id): id is string => typeof id === 'string') : [];
  const ranBuilds = new Set(earlierBuilds);
  return (build) => {
    const recentBuilds = new Set([host, build, ...ranBuilds]);
    for (const id of recentBuilds) ranBuilds.add(id);
    local.set(STORAGE_KEYS.ranBuilds, JSON.stringify([...recentBuilds].slice(0, MAX_STORED_BUILDS)));
    const [hasHostRun, hasBuildRun] = [earlierBuilds.includes(host), earlierBuilds.includes(build)];
    if (hasHostRun !== hasBuildRun) return 'mixed';
    return hasHostRun ? 'warm' : 'cold';
  };
}
