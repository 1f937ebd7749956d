import type { RemoteModule } from '@liaozhai/shared/runtime';
import { init } from '@module-federation/enhanced/runtime';
import type { ComponentType } from 'react';
import { registerSet } from '../federation/remotes';
import { testSet } from './pageFixture';

type Pages = Record<string, () => Promise<{ default: ComponentType<never> }>>;

/** Serves a build of a remote with these pages and parts, by route and slot name. */
export function serveBuild(name: string, pages: Pages, which: 'current' | 'lastGood' = 'current') {
  const remote = testSet.remotes[name];
  const build = which === 'current' ? remote : remote?.lastGood;
  if (!build) throw new Error(`the test set has no ${which} build of ${name}`);
  const load = (part: string) => () => pages[part]?.() ?? Promise.reject(new Error(`no chunk ${part}`));
  const module: RemoteModule = {
    name,
    contract: '^1.0.0',
    routes: build.routes.map((route) => ({ ...route, page: load(route.name) as RemoteModule['routes'][0]['page'] })),
    slots: build.slots.map((slot) => ({ name: slot.name, part: load(slot.name) })),
  };
  // what running the entry leaves behind
  const container = { init: () => undefined, get: async () => () => ({ default: module }) };
  Object.assign(globalThis, { [build.global]: container });
}

interface HappyWindow {
  happyDOM: { settings: { handleDisabledFileLoadingAsSuccess: boolean } };
}

// every script "loads" and runs nothing: an entry that was not served leaves no container
(window as unknown as HappyWindow).happyDOM.settings.handleDisabledFileLoadingAsSuccess = true;

init({ name: 'host', remotes: [] });
registerSet();
