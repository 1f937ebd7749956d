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
import { BUNDLED } from './pageSet';
import type { Prefetcher } from './prefetch';
import { moduleError, RemoteError } from './remoteError';

export interface Remotes {
  /** The build of a remote that runs in this page or is about to. */
  activeBuild(name: string): PageBuild | undefined;
  /** Ids of every build that ran in this page or is about to, the host's among them. */
  runningBuilds(): string[];
  /**
   * The remote's module from the set's build, else from its last good build; `prepare` is called before each of them
   * is loaded. Rejects with RemoteError.
   */
  load(name: string, prepare?: () => void): Promise<RemoteModule>;
  /**
   * Switches a remote to its last good build, or away from a last good one that fails, too. Returns whether there was
   * one to switch to; a second caller for the same failure gets true without a second switch.
   */
  fallBack(name: string, failedBuild: string, error: RemoteError): boolean;
  /** The same without a word against the build: whether it is to blame is still to be seen. */
  stepAside(name: string, build: string): boolean;
  /** Reports that a build failed here, and avoids it for ten minutes. */
  blame(build: string, error: RemoteError): void;
  /** Every build that was blamed in this page, with its error and the address of the time. */
  blamed(): readonly Blamed[];
  /** Whether another build can take the place of the one that a file belongs to. */
  hasOther(url: string): boolean;
  /** What the reader tells support of the failures in this page; undefined where none was reported. */
  problem(): string | undefined;
  /** For a retry: what failed here may be repaired, so a remote whose builds all failed begins with the set's. */
  startAnew(name: string): void;
  /** Reports to the origin what has loaded so far, and from now on immediately. Call when idle; failures are always reported immediately. */
  tellLoads(): void;
}

interface Blamed {
  build: string;
  error: RemoteError;
  pathname: string;
}

interface RemotesContext {
  set: PageSet;
  assetLoader: AssetLoader;
  prefetcher: Prefetcher;
}

/** The remotes of a page's set: which build of each runs, and how to get it. */
export function createRemotes({ set, assetLoader, prefetcher }: RemotesContext): Remotes {
  /** Remotes that run another build than the set's, for the life of this page or until a reload of the remote is requested. */
  const fallbackBuilds = new Map<string, PageBuild>();
  const failedHere = new Set<string>();
  const blamed: Blamed[] = [];
  /** Builds whose code ran here; screens of a build stay when another one takes its place. */
  const ran = new Set<string>();
  const { send: sendBeacon, tellLoads, problem } = createBeacon(set);

  const activeBuild = (name: string) => fallbackBuilds.get(name) ?? set.remotes[name];

  /** The set's build, then the last good one if the host can run it. */
  function buildsOf(name: string): PageBuild[] {
    const build = set.remotes[name];
    if (!build) return [];
    return build.lastGood && satisfiesContract(build.lastGood.contract) ? [build, build.lastGood] : [build];
  }

  function fallBack(name: string, failedBuild: string, error: RemoteError): boolean {
    if (activeBuild(name)?.id === failedBuild) blame(failedBuild, error);
    return stepAside(name, failedBuild);
  }

  function blame(build: string, error: RemoteError) {
    if (error.failure === 'unchecked' || isOffline(error)) return;
    quarantine(build);
    blamed.push({ build, error, pathname: location.pathname });
    console.warn(`[${error.remote}] ${build} failed`, error);
    sendBeacon({ build, outcome: 'failed', failure: error.failure });
  }

  function stepAside(name: string, build: string): boolean {
    const active = activeBuild(name);
    if (!active) return false;
    if (active.id !== build) return true;
    prefetcher.cancel(active.entry);
    failedHere.add(build);
    const other = buildsOf(name).find((build) => !failedHere.has(build.id));
    if (other) fallbackBuilds.set(name, other);
    return other !== undefined;
  }

  async function loadBuild(name: string, build: PageBuild): Promise<RemoteModule> {
    const started = performance.now();
    const loaded = await federation()
      .open(name, build)
      .catch((cause) => {
        // where neither file nor module is to blame, the module's own code threw
        throw cause instanceof RemoteError ? cause : new RemoteError(name, 'init-threw', cause);
      });
    ran.add(build.id);
    if (!loaded?.default) throw new RemoteError(name, 'module-missing');
    // guests write it by hand
    const { contract, routes = [], slots = [] }: Partial<RemoteModule> = loaded.default;
    if (!satisfiesContract(String(contract)))
      throw new RemoteError(name, 'contract', new Error(`src/remote wants "${contract}"`));
    sendBeacon({
      build: build.id,
      outcome: 'loaded',
      loadMilliseconds: Math.round(performance.now() - started),
    });
    return { ...loaded.default, routes, slots };
  }

  const buildOf = (global: string) =>
    Object.keys(set.remotes)
      .flatMap(buildsOf)
      .find((build) => build.global === global);

  let opened: ReturnType<typeof createFederation> | undefined;
  /** Made with the first remote: a page that has them compiled in needs none. */
  const federation = () => {
    opened ??= createFederation(set.host.id, Object.keys(set.remotes), assetLoader, {
      activeBuild,
      buildOf,
      buildFailed(global, cause) {
        const failed = buildOf(global);
        if (!failed) return false;
        const name = remoteNameOf(failed);
        const error = moduleError(name, cause);
        // that a module is not there says nothing against the build
        return error.failure !== 'module-missing' && fallBack(name, failed.id, error);
      },
    });
    return opened;
  };

  for (const [name, build] of Object.entries(set.remotes)) {
    const sound = buildsOf(name).find(({ id }) => !isQuarantined(id));
    if (sound && sound.id !== build.id) fallbackBuilds.set(name, sound);
  }

  return {
    activeBuild,
    runningBuilds: () => [
      ...new Set([set.host.id, ...Object.keys(set.remotes).flatMap((name) => activeBuild(name)?.id ?? []), ...ran]),
    ],
    async load(name, prepare) {
      const bundled = bundledRemotes?.[name];
      if (bundled) return bundled.module;
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
    blamed: () => blamed,
    hasOther(url) {
      const { href } = new URL(url, location.href);
      return Object.keys(set.remotes).some((name) => {
        const active = activeBuild(name);
        if (!active || !href.startsWith(folderOf(active.entry))) return false;
        return buildsOf(name).some(({ id }) => id !== active.id && !failedHere.has(id));
      });
    },
    problem,
    startAnew(name) {
      const builds = buildsOf(name);
      const [first] = builds;
      if (!first || builds.some((build) => !failedHere.has(build.id))) return;
      for (const build of builds) failedHere.delete(build.id);
      fallbackBuilds.set(name, first);
    },
    tellLoads,
  };
}

/** Without a network no file comes, which says nothing of the build. */
const isOffline = ({ failure }: RemoteError) =>
  !navigator.onLine && ['unreachable', 'hang', 'chunk-lost'].includes(failure);

/** Address of the folder that all files of a build are in, with its last slash. */
const folderOf = (entry: string) => new URL('.', new URL(entry, location.href)).href;

const QUARANTINE_MS = 10 * MINUTE_MS;

/** Build id → when it failed, ms since the epoch. */
function readQuarantine(): Record<string, number> {
  const stored = readJson(STORAGE_KEYS.quarantine);
  return typeof stored === 'object' && stored !== null ? (stored as Record<string, number>) : {};
}

/** Whether this browser saw the build fail within the last ten minutes. */
const isQuarantined = (buildId: string) => isRecent(readQuarantine()[buildId] ?? 0, Date.now());

/** What lies ahead was noted by a clock that has been put back since. */
const isRecent = (since: number, now: number) => since <= now && now - since < QUARANTINE_MS;

function quarantine(buildId: string) {
  const now = Date.now();
  const recent = Object.entries(readQuarantine()).filter(([, since]) => isRecent(since, now));
  local.set(STORAGE_KEYS.quarantine, JSON.stringify({ ...Object.fromEntries(recent), [buildId]: now }));
}

/**
 * Reports to the origin, once per page, how a build fared. Nothing waits for it and nothing depends on it. A success is sent when the
 * page is idle or hidden: over HTTP/1 its request would hold one of six connections while a tap on a tab may need them all.
 */
function createBeacon({ set, candidate }: PageSet) {
  const sent = new Set<string>();
  const ofPage: { problem?: string } = {};
  let tellLoads = () => {};
  const leisure = new Promise<void>((resolve) => {
    tellLoads = resolve;
  });
  window.addEventListener('pagehide', tellLoads, { once: true });
  return {
    tellLoads,
    problem: () => ofPage.problem,
    send(health: Omit<Beacon, 'set' | 'candidate' | 'problem'>) {
      const vote = `${health.build} ${health.outcome}`;
      // what runs from a dev server is no build, and nobody's figures
      if (set === BUNDLED || health.build.includes('@local') || sent.has(vote)) return;
      sent.add(vote);
      if (health.outcome === 'failed') {
        ofPage.problem ??= newClientId();
        problemNoted(ofPage.problem);
      }
      const report: Beacon = { ...health, set, candidate, problem: ofPage.problem };
      if (health.outcome === 'failed') sendReport(report);
      else void leisure.then(() => sendReport(report));
    },
  };
}
