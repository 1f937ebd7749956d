import {
  type Beacon,
  MINUTE_MS,
  type PageBuild,
  type PageSet,
  type RemoteModule,
  STORAGE_KEYS,
  satisfiesContract,
} from '@liaozhai/shared/contract';
import { local, newClientId, problemNoted, readJson } from '@liaozhai/shared/runtime';
import { sendReport } from '../beacon';
import type { AssetLoader } from './assetLoader';
import { bundledRemotes } from './bundledRemotes';
import { createFederation } from './federation';
import { remoteNameOf } from './pagePlugin';
import { BUNDLED, folderOf } from './pageSet';
import type { Prefetcher } from './prefetch';
import { moduleError, RemoteError } from './remoteError';

interface BlamedBuild {
  build: string;
  error: RemoteError;
  pathname: string;
}

export type Remotes = ReturnType<typeof createRemotes>;

/** Manages the remotes of a page's set: which build of each runs, and how it is loaded. */
export function createRemotes(set: PageSet, assetLoader: AssetLoader, prefetcher: Prefetcher) {
  /** Remotes that run another build than the set's, for the life of this page or until `resetFailures`. */
  const fallbackBuilds = new Map<string, PageBuild>();
  const failedBuildIds = new Set<string>();
  const blamedBuilds: BlamedBuild[] = [];
  /** Builds whose code ran here; their screens may stay after a fallback. */
  const ranIds = new Set<string>();
  const { send: sendBeacon, reportLoads, problem } = createBeacon(set);

  /** The build of a remote that runs in this page or will be loaded. */
  const activeBuild = (name: string): PageBuild | undefined => fallbackBuilds.get(name) ?? set.remotes[name];

  /** The set's build, then its fallback (stable instead of a candidate, or the last good one) if the host can run it. */
  function buildsOf(name: string): PageBuild[] {
    const build = set.remotes[name];
    if (!build) return [];
    return build.lastGood && satisfiesContract(build.lastGood.contract) ? [build, build.lastGood] : [build];
  }

  /**
   * Blames the build and switches the remote to its fallback build, or from there back to the set's. Returns whether there was
   * one; true without a second switch for another caller with the same failure.
   */
  function fallBack(name: string, failedBuild: string, error: RemoteError): boolean {
    if (activeBuild(name)?.id === failedBuild) blame(failedBuild, error);
    return stepAside(name, failedBuild);
  }

  /** Reports that a build failed here, and avoids it for ten minutes. */
  function blame(build: string, error: RemoteError) {
    if (error.failure === 'unchecked' || isOffline(error)) return;
    if (isCounted(set)) quarantine(build);
    blamedBuilds.push({ build, error, pathname: location.pathname });
    console.warn(`[${error.remote}] ${build} failed`, error);
    sendBeacon({ build, outcome: 'failed', failure: error.failure });
  }

  /** Switches like `fallBack` without blaming the build, while it is not known to be at fault. */
  function stepAside(name: string, build: string): boolean {
    const active = activeBuild(name);
    if (!active) return false;
    if (active.id !== build) return true;
    prefetcher.cancel(active.entry);
    failedBuildIds.add(build);
    const otherBuild = buildsOf(name).find((build) => !failedBuildIds.has(build.id));
    if (otherBuild) fallbackBuilds.set(name, otherBuild);
    return otherBuild !== undefined;
  }

  async function loadBuild(name: string, build: PageBuild): Promise<RemoteModule> {
    const startedAt = performance.now();
    const moduleExports = await federation()
      .open(name, build)
      .catch((cause) => {
        // any other error was thrown by the module's own code
        throw cause instanceof RemoteError ? cause : new RemoteError(name, 'init-threw', cause);
      });
    ranIds.add(build.id);
    if (!moduleExports?.default) throw new RemoteError(name, 'module-missing');
    // foreign teams write it by hand
    const { contract, routes = [], slots = [] }: Partial<RemoteModule> = moduleExports.default;
    if (!satisfiesContract(String(contract)))
      throw new RemoteError(name, 'contract', new Error(`src/remote wants "${contract}"`));
    sendBeacon({
      build: build.id,
      outcome: 'loaded',
      loadMilliseconds: Math.round(performance.now() - startedAt),
    });
    return { ...moduleExports.default, routes, slots };
  }

  const buildOf = (global: string) =>
    Object.keys(set.remotes)
      .flatMap(buildsOf)
      .find((build) => build.global === global);

  let federationInstance: ReturnType<typeof createFederation> | undefined;
  /** Created with the first remote; a page with compiled-in remotes needs none. */
  const federation = () => {
    federationInstance ??= createFederation(set.host.id, Object.keys(set.remotes), assetLoader, {
      activeBuild,
      buildOf,
      buildFailed(global, cause) {
        const failedBuild = buildOf(global);
        if (!failedBuild) return false;
        const name = remoteNameOf(failedBuild);
        const error = moduleError(name, cause);
        // a missing module is not the build's fault
        return error.failure !== 'module-missing' && fallBack(name, failedBuild.id, error);
      },
    });
    return federationInstance;
  };

  const quarantinedBuilds = readQuarantine();
  for (const [name, build] of Object.entries(set.remotes)) {
    const usableBuild = buildsOf(name).find(({ id }) => !isRecent(quarantinedBuilds[id] ?? 0, Date.now()));
    if (usableBuild && usableBuild.id !== build.id) fallbackBuilds.set(name, usableBuild);
  }

  return {
    activeBuild,
    /** Ids of every build that ran in this page or will be loaded, including the host's. */
    runningBuilds: () => [
      ...new Set([set.host.id, ...Object.keys(set.remotes).flatMap((name) => activeBuild(name)?.id ?? []), ...ranIds]),
    ],
    /**
     * Loads the remote's module from the set's build, else from its fallback build. Calls `prepare` before each of them. Rejects
     * with RemoteError.
     */
    async load(name: string, prepare?: () => void): Promise<RemoteModule> {
      const bundledRemote = bundledRemotes?.[name];
      if (bundledRemote) return bundledRemote.module;
      for (let build = activeBuild(name); build; ) {
        prepare?.();
        try {
          return await loadBuild(name, build);
        } catch (cause) {
          if (!(cause instanceof RemoteError) || !fallBack(name, build.id, cause)) throw cause;
          build = activeBuild(name);
        }
      }
      throw new RemoteError(name, 'module-missing');
    },
    fallBack,
    stepAside,
    blame,
    /** Builds blamed in this page, each with its error and the pathname at that time. */
    blamedBuilds: (): readonly BlamedBuild[] => blamedBuilds,
    /** Whether the build that a file belongs to has another one to fall back to. */
    hasFallback(url: string): boolean {
      const { href } = new URL(url, location.href);
      return Object.keys(set.remotes).some((name) => {
        const active = activeBuild(name);
        if (!active || !href.startsWith(folderOf(active.entry))) return false;
        return buildsOf(name).some(({ id }) => id !== active.id && !failedBuildIds.has(id));
      });
    },
    /** Problem code of this page's failures, for the reader to give to support; undefined if none was reported. */
    problem,
    /** For a retry: if all builds of a remote failed, switches it back to the set's, which may have been repaired. */
    resetFailures(name: string): void {
      const builds = buildsOf(name);
      const [first] = builds;
      if (!first || builds.some((build) => !failedBuildIds.has(build.id))) return;
      for (const build of builds) failedBuildIds.delete(build.id);
      fallbackBuilds.set(name, first);
    },
    /** Reports successful loads so far, and later ones immediately. Call when idle; failures are always reported immediately. */
    reportLoads,
  };
}

/** Whether failures count against builds. Next to the code of a dev server, any build may fail without fault. */
const isCounted = ({ set, override }: PageSet) => set !== BUNDLED && !override?.local;

/** Offline, a file that cannot be loaded is not the build's fault. */
const isOffline = ({ failure }: RemoteError) =>
  !navigator.onLine && ['unreachable', 'hang', 'chunk-lost'].includes(failure);

const QUARANTINE_MS = 10 * MINUTE_MS;

/** Build id → when it failed, ms since the epoch. */
function readQuarantine(): Record<string, number> {
  const storedTimes = readJson(STORAGE_KEYS.quarantine);
  return typeof storedTimes === 'object' && storedTimes !== null ? (storedTimes as Record<string, number>) : {};
}

/** A time in the future does not count: the clock has been set back since. */
const isRecent = (failedAt: number, now: number) => failedAt <= now && now - failedAt < QUARANTINE_MS;

function quarantine(buildId: string) {
  const now = Date.now();
  const recentFailures = Object.entries(readQuarantine()).filter(([, since]) => isRecent(since, now));
  local.set(STORAGE_KEYS.quarantine, JSON.stringify({ ...Object.fromEntries(recentFailures), [buildId]: now }));
}

/**
 * Reports each outcome of a build to the origin, once per page. A success is sent when the page is idle or unloads: over HTTP/1
 * its request would hold one of six connections that a tap may need.
 */
function createBeacon(pageSet: PageSet) {
  const { set, candidate } = pageSet;
  const sentVotes = new Set<string>();
  const pageState: { problem?: string } = {};
  let reportLoads = () => {};
  const idle = new Promise<void>((resolve) => {
    reportLoads = resolve;
  });
  window.addEventListener('pagehide', reportLoads, { once: true });
  return {
    reportLoads,
    problem: () => pageState.problem,
    send(health: Omit<Beacon, 'set' | 'candidate' | 'problem'>) {
      const vote = `${health.build} ${health.outcome}`;
      if (!isCounted(pageSet) || sentVotes.has(vote)) return;
      sentVotes.add(vote);
      if (health.outcome === 'failed') {
        pageState.problem ??= newClientId();
        problemNoted(pageState.problem);
      }
      const report: Beacon = { ...health, set, candidate, problem: pageState.problem };
      if (health.outcome === 'failed') sendReport(report);
      else void idle.then(() => sendReport(report));
    },
  };
}
