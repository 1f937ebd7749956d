import { CONTRACT_VERSION } from '@liaozhai/shared/contract';
import * as runtime from '@liaozhai/shared/runtime';
import { attachShareScopeMap } from '@module-federation/webpack-bundler-runtime/dist/attachShareScopeMap.js';
import { consumes } from '@module-federation/webpack-bundler-runtime/dist/consumes.js';
import { initContainerEntry } from '@module-federation/webpack-bundler-runtime/dist/initContainerEntry.js';
import { initializeSharing } from '@module-federation/webpack-bundler-runtime/dist/initializeSharing.js';
import { installInitialConsumes } from '@module-federation/webpack-bundler-runtime/dist/installInitialConsumes.js';
import * as React from 'react';
import * as jsxRuntime from 'react/jsx-runtime';
import * as ReactDOM from 'react-dom';

/** One version of a shared module as Module Federation's share scopes list it. */
interface Shared {
  version: string;
  scope: string[];
  from: string;
  loaded: boolean;
  lib: () => unknown;
  get: () => Promise<() => unknown>;
  useIn: string[];
  deps: string[];
  strategy: 'loaded-first';
  shareConfig: { singleton: true; requiredVersion: string; eager: true };
}

/** Module name → version → the module. */
export type ShareScope = Record<string, Record<string, Shared>>;

const provided = (version: string, module: unknown): Record<string, Shared> => ({
  [version]: {
    version,
    scope: ['default'],
    from: 'host',
    loaded: true,
    lib: () => module,
    get: async () => () => module,
    useIn: [],
    deps: [],
    strategy: 'loaded-first',
    shareConfig: { singleton: true, requiredVersion: `^${version}`, eager: true },
  },
});

/** What the host gives to every remote: the singletons that `shared/src/build/federation.ts` names, all of them here already. */
export const shareScope: ShareScope = {
  react: provided(React.version, React),
  'react/jsx-runtime': provided(React.version, jsxRuntime),
  'react-dom': provided(ReactDOM.version, ReactDOM),
  '@liaozhai/shared/runtime': provided(CONTRACT_VERSION, runtime),
};

interface RemoteOptions {
  name: string;
  shareStrategy?: string;
}

/** The part of Module Federation's instance that a container's own code calls. */
function createInstance(options: RemoteOptions) {
  const shareScopeMap: Record<string, ShareScope> = { default: shareScope };
  /** The module's factory, or false, upon which the container says what it lacks. */
  const factoryOf = (name: string) => Object.values(shareScope[name] ?? {})[0]?.lib ?? false;
  return {
    name: options.name,
    options,
    shareScopeMap,
    initOptions: () => options,
    initShareScopeMap(key: string, scope: ShareScope) {
      shareScopeMap[key] = scope;
    },
    // the host's modules are there, and a remote brings none (`import: false`)
    initializeSharing: (): Promise<unknown>[] => [],
    registerShared: () => undefined,
    loadShare: async (name: string) => factoryOf(name),
    loadShareSync: factoryOf,
  };
}

/**
 * Gives remotes the federation runtime that each would otherwise carry (7.1 → 3.3 KiB br per entry). What bundlers
 * generate calls Module Federation's own bundler runtime, which rests on internals: its version is pinned. The instance
 * behind it is this page's: `remotes.ts` decides which build runs, loads it and falls back, and the table above says what
 * is shared, so Module Federation's loader, hooks, snapshots and negotiation (15 KiB br) would have nothing to do.
 */
export function shareFederationRuntime() {
  const federationRuntime = () => ({
    runtime: { init: createInstance },
    instance: undefined,
    initOptions: undefined,
    bundlerRuntime: {
      init: ({ webpackRequire }: { webpackRequire: { federation: { initOptions: RemoteOptions } } }) =>
        createInstance(webpackRequire.federation.initOptions),
      initContainerEntry,
      installInitialConsumes,
      consumes,
      I: initializeSharing,
      S: {},
    },
    attachShareScopeMap,
    bundlerRuntimeOptions: {},
  });
  Object.assign(globalThis, { __federationRuntime: federationRuntime });
}
