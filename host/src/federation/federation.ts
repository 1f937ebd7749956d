import { CONTRACT_VERSION, type PageBuild, type RemoteModule, satisfiesContract } from '@liaozhai/shared/contract';
import * as runtime from '@liaozhai/shared/runtime';
import { createInstance, registerGlobalPlugins } from '@module-federation/runtime';
import * as core from '@module-federation/runtime/core';
import * as React from 'react';
import * as jsxRuntime from 'react/jsx-runtime';
import * as ReactDOM from 'react-dom';
import type { AssetLoader } from './assetLoader';
import { type Container, pagePlugin, type Rules, remoteNameOf, remoteOf } from './pagePlugin';
import { entryError, moduleError, RemoteError, withTimeout } from './remoteError';

const singleton = (version: string, module: unknown) => ({
  version,
  lib: () => module,
  shareConfig: { singleton: true, requiredVersion: `^${version}` },
});

/** Libraries of which a page has one copy, the host's. `shared/src/build/federation.ts` lists them for remotes. */
const singletons = {
  react: singleton(React.version, React),
  'react/jsx-runtime': singleton(React.version, jsxRuntime),
  'react-dom': singleton(ReactDOM.version, ReactDOM),
  '@liaozhai/shared/runtime': singleton(CONTRACT_VERSION, runtime),
};

type Exports = { default?: RemoteModule };

/** Builds for contract 2.0 read their federation runtime from `globalThis.__federationRuntime()` when their entry runs. */
async function prepareRuntime({ contract }: PageBuild) {
  if (globalThis.__federationRuntime || !satisfiesContract(contract, '2.0.0')) return;
  const { provideFormerRuntime } = await import(/* webpackChunkName: "formerRuntime" */ './formerRuntime');
  provideFormerRuntime();
}

/**
 * Creates the page's instance of Module Federation. Its core serves every remote built with `externalRuntime`; `pagePlugin`
 * controls the instances of all remotes. `hostBuild` distinguishes it from a foreign remote that is named `host`, too.
 */
export function createFederation(
  hostBuild: string,
  remotes: readonly string[],
  assetLoader: AssetLoader,
  rules: Omit<Rules, 'loadEntry'>,
) {
  async function loadEntry(build: PageBuild): Promise<Container> {
    const { entry, global } = build;
    const name = remoteNameOf(build);
    if (build.entryType === 'module') {
      const { importEntry } = await import(/* webpackChunkName: "esModules" */ './esModules');
      return importEntry(name, build).catch((cause) => {
        throw cause instanceof RemoteError ? cause : entryError(name, cause);
      });
    }
    await prepareRuntime(build);
    await assetLoader.script(entry).catch((cause) => {
      throw entryError(name, cause);
    });
    const container: Container | undefined = Reflect.get(globalThis, global);
    if (!container) throw new RemoteError(name, 'entry-threw');
    return container;
  }

  const plugin = pagePlugin({ ...rules, loadEntry }, singletons);
  registerGlobalPlugins([plugin]);
  const federation = createInstance({
    name: 'host',
    version: hostBuild,
    remotes: [],
    shared: singletons,
    shareStrategy: 'loaded-first',
    plugins: [plugin],
  });
  // same as the official `provideExternalRuntime`, which needs the build plug-in in the host
  Object.assign(globalThis, {
    _FEDERATION_RUNTIME_CORE: core,
    _FEDERATION_RUNTIME_CORE_FROM: { name: 'host', version: federation.version },
  });
  // webpack's own container plug-in loads its configured URL only if the remote's global name is undefined
  for (const remote of remotes)
    if (!(remote in globalThis || rules.buildOf(remote)))
      Reflect.set(globalThis, remote, {
        init() {},
        get: (path: string) => federation.loadRemote(remote + path.slice(1), { loadFactory: false, from: 'build' }),
      });
  return {
    /** Returns the exports of a build's `src/remote`. Rejects with RemoteError, except for errors thrown by the module's own code. */
    async open(name: string, build: PageBuild): Promise<Exports> {
      const remote = remoteOf(build);
      federation.registerRemotes([remote]);
      const factory = await federation
        .loadRemote<() => Exports>(`${remote.name}/remote`, { loadFactory: false, from: 'runtime' })
        .catch((cause) => {
          throw moduleError(name, cause);
        });
      if (!factory) throw new RemoteError(name, 'module-missing');
      return withTimeout(name, factory());
    },
  };
}
