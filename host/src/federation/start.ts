import { pageInfoKnown } from '@liaozhai/shared/runtime';
import { openDoor } from './door';
import { lendRuntime } from './lend';
import { pageSet } from './page';
import { activeBuild, registerSet } from './remotes';

function tellBuilds() {
  const builds = Object.entries(pageSet.remotes).map(([name, build]) => [name, activeBuild(name)?.id ?? build.id]);
  const { channel, set, host } = pageSet;
  pageInfoKnown({ channel, set, builds: { host: host.id, ...Object.fromEntries(builds) } });
}

/** Opens the door, lends the runtime and registers the set's remotes. Call once, before anything is loaded. */
export function startFederation() {
  openDoor();
  lendRuntime();
  registerSet();
  tellBuilds();
}
