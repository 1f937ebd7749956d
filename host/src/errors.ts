import { type ErrorReport, framesOf, messageClass } from '@liaozhai/shared/contract';
import { reportRegularly, sendReport } from './beacon';
import type { Page } from './page';
import { routeAt } from './routes';

/** Most distinct errors that a page reports. */
const MOST_OF_PAGE = 10;

/**
 * Reports errors in the code of builds to the origin, each once: uncaught errors, and those a build was blamed for. Errors of
 * other scripts, such as extensions, are ignored. Call when idle. Returns the stop function.
 */
export function watchErrors({ set, routes, remotes }: Page): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  // previews of unreleased builds report nothing
  if (set.override) return () => stop.abort();
  const builds = [set.host, ...Object.values(set.remotes).flatMap((build) => [build, build.lastGood ?? []].flat())];
  const noted = new Set<string>();
  let waiting: ErrorReport[] = [];

  const note = (kind: ErrorReport['kind'], build: string, cause: unknown, pathname: string) => {
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
    if (noted.has(key) || noted.size >= MOST_OF_PAGE) return;
    noted.add(key);
    waiting.push(report);
  };
  const noteUncaught = (kind: 'uncaught' | 'rejection', cause: unknown, filename = '') => {
    const [frame = filename.split('/builds/')[1] ?? ''] = framesOf(String((cause as Error | null)?.stack));
    const build = builds.find(({ entry }) => entry.startsWith(`/builds/${frame.split('/', 2).join('/')}/`));
    if (build) note(kind, build.id, cause, location.pathname);
  };
  window.addEventListener('error', ({ error, filename }) => noteUncaught('uncaught', error, filename), { signal });
  window.addEventListener('unhandledrejection', ({ reason }) => noteUncaught('rejection', reason), { signal });

  const report = () => {
    for (const { build, error, pathname } of remotes.blamed()) {
      // a file that failed to load is not an error in the build's code and has no stack in it
      const thrown = error.failure.endsWith('-threw') && error.cause instanceof Error ? error.cause : null;
      if (error.failure !== 'unchecked') note(error.failure, build, thrown, pathname);
    }
    const failed = waiting;
    waiting = [];
    if (failed.length > 0) sendReport({ failed });
  };
  signal.addEventListener('abort', reportRegularly(report));
  return () => stop.abort();
}
