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

/** Remotes that left the set's build for their last good one, for the life of this page. */
const fallen = new Map<string, PageBuild>();

export const activeBuild = (name: string): PageBuild | undefined => fallen.get(name) ?? pageSet.remotes[name];

const register = (name: string, build: PageBuild, force = false) =>
  registerRemotes([{ name, entry: build.entry, entryGlobalName: build.global, type: 'global' }], { force });

/**
 * Switches a remote to its last good build. Returns whether there was one to switch to;
 * a second caller for the same failure gets true without a second switch.
 */
export function fallBack(name: string, failedBuild: string, cause: unknown): boolean {
  const active = activeBuild(name);
  const good = pageSet.remotes[name]?.lastGood;
  if (!active) return false;
  if (active.id !== failedBuild) return true;
  reportFailure(name, failedBuild, cause);
  if (!good || good.id === failedBuild || !satisfiesContract(good.contract)) return false;
  fallen.set(name, good);
  register(name, good, true);
  return true;
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
  if (!loaded?.default) throw new RemoteError(name, 'module-missing');
  if (!satisfiesContract(loaded.default.contract)) throw new RemoteError(name, 'contract');
  beacon({ build: build.id, outcome: 'loaded', loadMilliseconds: Math.round(performance.now() - started) });
  return loaded.default;
}

/** The remote's module from the set's build, else from its last good build. Rejects with RemoteError. */
export async function loadRemote(name: string): Promise<RemoteModule> {
  const bundled = bundledRemotes?.[name];
  if (bundled) return bundled.module;
  const build = activeBuild(name);
  if (!build) throw new RemoteError(name, 'module-missing');
  try {
    return await loadBuild(name, build);
  } catch (cause) {
    const good = fallBack(name, build.id, cause) && activeBuild(name);
    if (!good) throw cause;
    return loadBuild(name, good);
  }
}

/** Registers the set's remotes and puts the door before every entry. Call once, before the first load. */
export function registerSet() {
  getInstance()?.registerPlugins([
    {
      name: 'liaozhai',
      async loadEntry({ remoteInfo }) {
        await door.script(remoteInfo.entry);
        const container = (globalThis as Record<string, unknown>)[remoteInfo.entryGlobalName];
        if (!container) throw new Error(`${remoteInfo.entry} left no container`);
        return container as Awaited<ReturnType<typeof loadFederated>> as never;
      },
    },
  ]);
  for (const [name, build] of Object.entries(pageSet.remotes)) {
    if (build.lastGood && isQuarantined(build.id) && satisfiesContract(build.lastGood.contract))
      fallen.set(name, build.lastGood);
    register(name, activeBuild(name) ?? build);
  }
}
