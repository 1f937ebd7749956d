import { isMovedNode } from '@liaozhai/shared/contract';
import { RemoteError } from '../federation/remoteError';
import type { Remotes } from '../federation/remotes';

// A render error is blamed on a build only if another build renders without it. Bad data of a backend, or a browser that altered
// the page, breaks every build alike.

/** How long the other build must render without an error before the first one is blamed. */
const PROBATION_MS = 1_000;

/** Text of an error without minified names, comparable between builds. */
const comparableText = (cause: unknown): string =>
  cause instanceof Error ? `${cause.name} ${cause.message}`.replace(/\b[\w$]{1,2}(?=[.[(])/g, '') : String(cause);

/** Builds that threw while rendering, until their other build has rendered or thrown. */
export function createSuspects(remotes: Pick<Remotes, 'blame' | 'stepAside' | 'resetFailures'>) {
  const suspects = new Map<string, { build: string; cause: unknown }>();

  function convict(remote: string) {
    const suspect = suspects.get(remote);
    suspects.delete(remote);
    if (suspect) remotes.blame(suspect.build, new RemoteError(remote, 'render-threw', suspect.cause));
  }

  return {
    /** The other build could not be loaded, so it failed in another way. Throws the cause. */
    onLoadFailure(remote: string, cause: unknown): never {
      convict(remote);
      throw cause;
    },
    /**
     * Returns whether another build takes over. `isContained`: only rows of a list threw and were replaced, so a build without
     * another one is not blamed.
     */
    onError(remote: string, build: string, cause: unknown, isContained = false): boolean {
      const suspect = suspects.get(remote);
      if (suspect && suspect.build !== build && comparableText(suspect.cause) === comparableText(cause)) {
        suspects.delete(remote);
        console.warn(`[${remote}] ${suspect.build} and ${build} threw alike, so neither is blamed`, cause);
        // the next attempt starts with the set's build
        remotes.stepAside(remote, build);
        remotes.resetFailures(remote);
        return false;
      }
      if (suspect?.build !== build) convict(remote);
      const hasFallback = remotes.stepAside(remote, build);
      suspects.set(remote, { build, cause });
      if (!hasFallback && isContained) suspects.delete(remote);
      else if (!hasFallback) convict(remote);
      return hasFallback;
    },
    onRender(remote: string) {
      const suspect = suspects.get(remote);
      if (!suspect) return;
      const judge = () => {
        clearTimeout(timer);
        window.removeEventListener('pagehide', judge);
        if (suspects.get(remote) === suspect) convict(remote);
      };
      const timer = setTimeout(judge, PROBATION_MS);
      window.addEventListener('pagehide', judge);
    },
  };
}

/** A component that is remounted more often than this within the time is given up. */
const REMOUNT_WINDOW_MS = 10_000;
const MAX_REMOUNTS = 5;

/**
 * Judges errors of a document that the browser has altered, whose component is remounted in new nodes. `again`: remount. `lost`: not
 * possible in this page. `build`: not caused by an alteration.
 */
export function createAlterationJudge() {
  let recentErrors: number[] = [];
  return (cause: unknown): 'again' | 'lost' | 'build' => {
    if (!isMovedNode(cause)) return 'build';
    const now = performance.now();
    recentErrors = [...recentErrors.filter((time) => now - time < REMOUNT_WINDOW_MS), now];
    return recentErrors.length <= MAX_REMOUNTS ? 'again' : 'lost';
  };
}
