import type { RemoteModule } from '@liaozhai/shared/runtime';
import { getInstance, loadRemote as loadFederated, registerRemotes } from '@module-federation/enhanced/runtime';
import { beacon } from './beacon';
import { bundledRemotes } from './bundledRemotes';
import { satisfiesContract } from './contract';
import { door } from './door';
import { pageSet } from './page';
import type { PageBuild } from './pageSet';
import { isQuarantined, quarantine } from './quarantine';
import { failureOf, RemoteError } from './remoteError';
import { stopWarming } from './warm';

/** Remotes whose other build stands in, for the life of this page or until someone asks to try anew. */
const standIns = new Map<string, PageBuild>();
const failedHere = new Set<string>();
/** Builds whose code ran here; screens of a build stay when another one stands in for it. */
const ran = new Set<string>();

/** By entry: registering another build takes the former container off the global object, and the door runs no file twice. */
const containers = new Map<string, unknown>();

export const activeBuild = (name: string): PageBuild | undefined => standIns.get(name) ?? pageSet.remotes[name];

/** Every build that runs in this page or is about to. */
export const runningBuilds = (): string[] => [
  ...new Set([pageSet.host.id, ...Object.keys(pageSet.remotes).flatMap((name) => activeBuild(name)?.id ?? []), ...ran]),
];

/** The set's build, then the last good one if the host can run it. */
function buildsOf(name: string): PageBuild[] {
  const build = pageSet.remotes[name];
  if (!build) return [];
  return build.lastGood && satisfiesContract(build.lastGood.contract) ? [build, build.lastGood] : [build];
}

const register = (name: string, build: PageBuild, force = false) =>
  registerRemotes([{ name, entry: build.entry, entryGlobalName: build.global, type: 'global' }], { force });

function switchTo(name: string, build: PageBuild) {
  standIns.set(name, build);
  register(name, build, true);
}

/**
 * Switches a remote to its last good build, or away from a last good one that fails, too. Returns whether there was
 * one to switch to; a second caller for the same failure gets true without a second switch.
 */
export function fallBack(name: string, failedBuild: string, cause: unknown): boolean {
  const active = activeBuild(name);
  if (!active) return false;
  if (active.id !== failedBuild) return true;
  reportFailure(name, failedBuild, cause);
  stopWarming(active.entry);
  failedHere.add(failedBuild);
  const other = buildsOf(name).find((build) => !failedHere.has(build.id));
  if (other) switchTo(name, other);
  return other !== undefined;
}

/** For a retry by hand: what failed here may be repaired, so a remote whose builds all failed begins with the set's. */
export function startAnew(name: string) {
  const builds = buildsOf(name);
  const [first] = builds;
  if (!first || builds.some((build) => !failedHere.has(build.id))) return;
  for (const build of builds) failedHere.delete(build.id);
  if (activeBuild(name) !== first) switchTo(name, first);
}

export function reportFailure(name: string, build: string, cause: unknown) {
  quarantine(build);
  console.warn(`[${name}] ${build} failed`, cause);
  beacon({ build, outcome: 'failed', failure: failureOf(cause) });
}

async function loadBuild(name: string, build: PageBuild): Promise<RemoteModule> {
  const started = performance.now();
  const loaded = await loadFederated<{ default: RemoteModule }>(`${name}/remote`).catch((cause) => {
    throw new RemoteError(name, failureOf(cause), cause);
  });
  ran.add(build.id);
  if (!loaded?.default) throw new RemoteError(name, 'module-missing');
  if (!satisfiesContract(loaded.default.contract)) throw new RemoteError(name, 'contract');
  beacon({ build: build.id, outcome: 'loaded', loadMilliseconds: Math.round(performance.now() - started) });
  return loaded.default;
}

/**
 * The remote's module from the set's build, else from its last good build; `prepare` is called before each of them
 * is loaded. Rejects with RemoteError.
 */
export async function loadRemote(name: string, prepare?: () => void): Promise<RemoteModule> {
  const bundled = bundledRemotes?.[name];
  if (bundled) return bundled.module;
  for (let build = activeBuild(name); build; ) {
    prepare?.();
    try {
      return await loadBuild(name, build);
    } catch (cause) {
      if (!fallBack(name, build.id, cause)) throw cause;
      build = activeBuild(name);
    }
  }
  throw new RemoteError(name, 'module-missing');
}

/** Registers the set's remotes and puts the door before every entry. Call once, before the first load. */
export function registerSet() {
  getInstance()?.registerPlugins([
    {
      name: 'liaozhai',
      async loadEntry({ remoteInfo }) {
        await door.script(remoteInfo.entry);
        const container =
          containers.get(remoteInfo.entry) ?? (globalThis as Record<string, unknown>)[remoteInfo.entryGlobalName];
        if (!container) throw new Error(`${remoteInfo.entry} left no container`);
        containers.set(remoteInfo.entry, container);
        return container as Awaited<ReturnType<typeof loadFederated>> as never;
      },
    },
  ]);
  for (const [name, build] of Object.entries(pageSet.remotes)) {
    const sound = buildsOf(name).find(({ id }) => !isQuarantined(id));
    if (sound && sound.id !== build.id) standIns.set(name, sound);
    register(name, sound ?? build);
  }
}
