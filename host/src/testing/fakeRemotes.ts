import { CONTRACT_VERSION, type RemoteModule } from '@liaozhai/shared/contract';
import type { ComponentType } from 'react';
import { readPageSet } from '../federation/pageSet';
import { createPage } from '../openPage';
import type { Page } from '../page';
import { testSet } from './pageFixture';

type Pages = Record<string, () => Promise<{ default: ComponentType<never> }>>;

const modules: Record<string, RemoteModule> = {};
/** The container of each entry's global name. The federation runtime caches containers, so each returns the module that is served now. */
const containers: Record<string, object> = {};

/** The error of a build's chunk runtime. */
const lostChunk = (chunk: string) =>
  Object.assign(new Error(`Loading chunk ${chunk} failed.`), { type: 'gone', request: `/${chunk}.js` });

/** Serves a build of a remote with these pages and slots, by route and slot name. */
export function serveBuild(name: string, pages: Pages, which: 'current' | 'lastGood' = 'current') {
  const remote = testSet.remotes[name];
  const build = which === 'current' ? remote : remote?.lastGood;
  if (!build) throw new Error(`the test set has no ${which} build of ${name}`);
  const load = (chunk: string) => () => pages[chunk]?.() ?? Promise.reject(lostChunk(chunk));
  const module: RemoteModule = {
    name,
    contract: `^${CONTRACT_VERSION}`,
    routes: build.routes.map((route) => ({ ...route, page: load(route.name) as RemoteModule['routes'][0]['page'] })),
    slots: build.slots.map(({ name: slot }) => ({ name: slot, component: load(slot) }) as RemoteModule['slots'][0]),
  };
  const { global } = build;
  modules[global] = module;
  containers[global] ??= { init: () => undefined, get: async () => () => ({ default: modules[global] }) };
}

/** Opens a page as a new document does. */
export function openPage(set = readPageSet()): Page {
  Object.assign(globalThis, containers);
  return createPage(set);
}

interface HappyWindow {
  happyDOM: { settings: { handleDisabledFileLoadingAsSuccess: boolean } };
}

// every script "loads" and runs nothing: an entry that was not served leaves no container
(window as typeof window & HappyWindow).happyDOM.settings.handleDisabledFileLoadingAsSuccess = true;
