import { type ErrorReport, framesOf, messageClass } from '@liaozhai/shared/contract';
import { listenTo, stopAll } from '@liaozhai/shared/ui';
import { reportRegularly, sendReport } from './beacon';
import type { Page } from './page';
import { routeAt } from './routes';

/** Most distinct errors that a page reports. */
const MAX_REPORTS = 10;

/**
 * Reports errors in the code of builds to the origin, each once: uncaught errors, and those a build was blamed for. Errors of
 * other scripts, such as extensions, are ignored. Call when idle. Returns the stop function.
 */
export function watchErrors({ set, routes, remotes }: Page): () => void {
  // previews of unreleased builds report nothing
  if (set.override) return () => undefined;
  const builds = [set.host, ...Object.values(set.remotes).flatMap((build) => [build, build.lastGood ?? []].flat())];
  const reportKeys = new Set<string>();
  let pendingReports: ErrorReport[] = [];

  const recordError = (kind: ErrorReport['kind'], build: string, cause: unknown, pathname: string) => {
    const { name, message, stack = '' } = cause instanceof Error ? cause : { name: '', message: '' };
    const report: ErrorReport = {
      build,
      kind,
      name: /^[A-Z][A-Za-z]{2,39}$/.test(name) ? name : 'Error',
      message: messageClass(message),
      frames: framesOf(stack),
      route: pathname === '/' ? pathname : routeAt(routes, pathname).path,
    };
    const key = JSON.stringify(report);
    if (reportKeys.has(key) || reportKeys.size >= MAX_REPORTS) return;
    reportKeys.add(key);
    pendingReports.push(report);
  };
  const recordUncaught = (kind: 'uncaught' | 'rejection', cause: unknown, filename = '') => {
    const [frame = filename.split('/builds/')[1] ?? ''] = framesOf(String((cause as Error | null)?.stack));
    const build = builds.find(({ entry }) => entry.startsWith(`/builds/${frame.split('/', 2).join('/')}/`));
    if (build) recordError(kind, build.id, cause, location.pathname);
  };
  const report = () => {
    for (const { build, error, pathname } of remotes.blamedBuilds()) {
      // a file that failed to load is not an error in the build's code and has no stack in it
      const thrownError = error.failure.endsWith('-threw') && error.cause instanceof Error ? error.cause : null;
      if (error.failure !== 'unchecked') recordError(error.failure, build, thrownError, pathname);
    }
    const reports = pendingReports;
    pendingReports = [];
    if (reports.length > 0) sendReport({ failed: reports });
  };
  return stopAll(
    listenTo(window, ['error'], (event: ErrorEvent) => recordUncaught('uncaught', event.error, event.filename)),
    listenTo(window, ['unhandledrejection'], ({ reason }: PromiseRejectionEvent) =>
      recordUncaught('rejection', reason),
    ),
    reportRegularly(report),
  );
}
