import { isMovedNode } from '@liaozhai/shared/contract';
import { RemoteError } from '../federation/remoteError';
import type { Remotes } from '../federation/remotes';

// A throw in rendering is the build's fault only where another build does without it: a value that a backend sent, or a
// browser that changed the page, breaks every build alike.

/** How long the other build has to stand before the first one is blamed. */
const STANDS_MS = 1_000;

/** What a throw says, without the short names that a minifier gives. */
const wordsOf = (cause: unknown): string =>
  cause instanceof Error ? `${cause.name} ${cause.message}`.replace(/\b[\w$]{1,2}(?=[.[(])/g, '') : String(cause);

interface Suspect {
  build: string;
  cause: unknown;
}

/** Builds that threw in rendering, until their other build has stood or thrown. */
export function createSuspects(remotes: Pick<Remotes, 'blame' | 'stepAside' | 'startAnew'>) {
  const suspects = new Map<string, Suspect>();

  function convict(remote: string) {
    const suspect = suspects.get(remote);
    suspects.delete(remote);
    if (suspect) remotes.blame(suspect.build, new RemoteError(remote, 'render-threw', suspect.cause));
  }

  return {
    /** The build that took its place could not be loaded, so it failed in another way. */
    otherFailed: convict,
    /**
     * Returns whether another build takes the place of the one that threw. `isContained`: rows of a list threw, and lines stand in
     * their place, so that a build without another is not blamed.
     */
    threw(remote: string, build: string, cause: unknown, isContained = false): boolean {
      const suspect = suspects.get(remote);
      if (suspect && suspect.build !== build && wordsOf(suspect.cause) === wordsOf(cause)) {
        suspects.delete(remote);
        console.warn(`[${remote}] ${suspect.build} and ${build} threw alike, so neither is blamed`, cause);
        // the next try begins with the set's build
        remotes.stepAside(remote, build);
        remotes.startAnew(remote);
        return false;
      }
      if (suspect?.build !== build) convict(remote);
      const hasOther = remotes.stepAside(remote, build);
      suspects.set(remote, { build, cause });
      if (!hasOther && isContained) suspects.delete(remote);
      else if (!hasOther) convict(remote);
      return hasOther;
    },
    /** A component of the remote is on the screen. */
    stands(remote: string) {
      const suspect = suspects.get(remote);
      if (!suspect) return;
      const judge = () => {
        clearTimeout(timer);
        window.removeEventListener('pagehide', judge);
        if (suspects.get(remote) === suspect) convict(remote);
      };
      const timer = setTimeout(judge, STANDS_MS);
      window.addEventListener('pagehide', judge);
    },
  };
}

/** A component that is mounted again so often within this time cannot be shown in such a page. */
const SPELL_MS = 10_000;
const MOST_PER_SPELL = 5;

/** Throws that come from a document which the browser has altered: what threw is mounted again, in clean nodes. */
export function createAlterations() {
  let recent: number[] = [];
  return {
    /** `again`: worth another mount. `lost`: not in this page. `build`: no alteration is to blame. */
    verdict(cause: unknown): 'again' | 'lost' | 'build' {
      if (!isMovedNode(cause)) return 'build';
      const now = performance.now();
      recent = [...recent.filter((time) => now - time < SPELL_MS), now];
      return recent.length <= MOST_PER_SPELL ? 'again' : 'lost';
    },
  };
}
