import { matchPath, pageInfoKnown } from '@liaozhai/shared/runtime';
import { openDoor } from './door';
import { lendRuntime } from './lend';
import { pageSet } from './page';
import { activeBuild, loadRemote, registerSet } from './remotes';

/** The remote whose route is at `path`, if any. */
function remoteAt(path: string): string | undefined {
  const found = Object.entries(pageSet.remotes).find(([, build]) =>
    build.routes.some((route) => matchPath(route.path, path)),
  );
  return found?.[0];
}

/**
 * Opens the door, lends the runtime, registers the set and loads the first screen's remote.
 * Resolves when that is loaded or has failed: its pane shows which.
 */
export async function startFederation(path: string): Promise<void> {
  const builds = Object.entries(pageSet.remotes).map(([name, build]) => [name, activeBuild(name)?.id ?? build.id]);
  pageInfoKnown({
    channel: pageSet.channel,
    set: pageSet.set,
    builds: { host: pageSet.host.id, ...Object.fromEntries(builds) },
  });
  openDoor();
  lendRuntime();
  registerSet();
  const first = remoteAt(path === '/' ? '/explore' : path);
  if (first) await loadRemote(first).catch(() => undefined);
}
