import type { PageBuild } from '@liaozhai/shared/contract';
import {
  getInstance,
  type ModuleFederation,
  type ModuleFederationRuntimePlugin,
  satisfy,
} from '@module-federation/runtime';
import { withTimeout } from './remoteError';
import type { SafeScopes } from './safeScope';

type Share = ModuleFederation['shareScopeMap'][string][string][string];

/** The container that an entry leaves on the global object. */
export type Container = Awaited<ReturnType<NonNullable<ModuleFederationRuntimePlugin['loadEntry']>>> & object;

export interface Rules {
  /** The build of a remote that runs in this page or will be loaded. */
  activeBuild(name: string): PageBuild | undefined;
  /** The build of this page's set whose container has this global name. */
  buildOf(global: string): PageBuild | undefined;
  /** Runs a build's entry. Rejects where the entry leaves no container. */
  loadEntry(build: PageBuild): Promise<Container>;
  /** Records a build that failed when another remote requested it. Returns whether another build took over. */
  buildFailed(global: string, cause: unknown): boolean;
}

export const remoteNameOf = ({ id }: PageBuild) => id.slice(0, id.lastIndexOf('@'));

/** Longer than any file's timeout (30 s). Ends the deadlock of two remotes that import each other's modules. */
const LOOKUP_TIMEOUT_MS = 45_000;

/** Wraps a container so that its calls reject after a timeout. */
const withTimeouts = (remote: string, container: Container): Container => ({
  init: (...scopes) => withTimeout(remote, container.init(...scopes)),
  // the type of `get` omits the promise
  get: (...names) => withTimeout(remote, container.get(...names), LOOKUP_TIMEOUT_MS) as never,
});

/** Describes a build to the runtime by its global name, so that two builds of one remote are two remotes. */
export const remoteOf = ({ global, entry }: PageBuild) => ({
  name: global,
  entryGlobalName: global,
  entry: new URL(entry, location.href).href,
});

type ConfiguredRemote = { name?: string; alias?: string; entryGlobalName?: string };

/**
 * Plug-in for every federation instance in the page: the host's, and those of remotes' bundles, of any version. Decides which
 * build answers, how its entry is loaded, and which copy of a library is used.
 */
export function pagePlugin(
  rules: Rules,
  singletons: Record<string, { version: string }>,
): ModuleFederationRuntimePlugin & { name: string } {
  const safeScopes: SafeScopes = new Map();
  /** Finds the configured remote of a request by name or alias, which may have a scope (`@team/gifts/Badge`). */
  function findConfigured(id: string, { options }: ModuleFederation): { called: string; remote: ConfiguredRemote } {
    for (const remote of options.remotes)
      for (const called of [remote.name, remote.alias])
        if (called && `${id}/`.startsWith(`${called}/`)) return { called, remote };
    return { called: id.split('/')[0] ?? '', remote: {} };
  }
  /** Finds the build that answers a request. Vite's plug-in generates names; then the remote's name is its global or its alias. */
  function resolveBuild(id: string, origin: ModuleFederation) {
    const { called, remote } = findConfigured(id, origin);
    const names = [called, remote.name, remote.entryGlobalName, remote.alias];
    const builds = names.map((name) => rules.activeBuild(name ?? ''));
    return { called, alias: remote.alias ?? called, build: builds.find((build) => build !== undefined) };
  }
  const plugin: ModuleFederationRuntimePlugin & { name: string } = {
    name: 'liaozhai',

    // a remote that imports another gets the build of this page, regardless of its configured URL
    beforeRequest(args) {
      const { called, alias, ...resolution } = resolveBuild(args.id, args.origin);
      // names take precedence over globals: an older build's container may be named like its remote
      const build = resolution.build ?? rules.buildOf(called);
      // otherwise the runtime would fetch the configured entry or manifest
      if (!build) throw new Error(`this page has no remote "${alias}"`);
      args.origin.registerRemotes([remoteOf(build)]);
      return { ...args, id: build.global + args.id.slice(called.length) };
    },

    // replaces the runtime's own preload, which would fetch a manifest
    async beforePreloadRemote({ preloadOps, origin }) {
      const builds = preloadOps.map(({ nameOrAlias }) => resolveBuild(nameOrAlias, origin).build);
      if (!builds.every((build) => build !== undefined)) return;
      preloadOps.length = 0;
      await Promise.allSettled(builds.map(rules.loadEntry));
    },

    // must return a container or throw, else the runtime appends a script of its own
    async loadEntry({ remoteInfo }) {
      const build = rules.buildOf(remoteInfo.name);
      if (!build) throw new Error(`this page has no build "${remoteInfo.name}"`);
      const name = remoteNameOf(build);
      const container = await rules.loadEntry(build);
      // a core before 2.9 ignores global plug-ins in an instance without plug-ins
      getInstance(({ name }) => name === build.global)?.registerPlugins([plugin]);
      // two parameters: a bundler's own container, which does not know this plug-in; federation's takes three
      if (container.init.length !== 2) return withTimeouts(name, container);
      const { withSafeScope } = await import(/* webpackChunkName: "safeScope" */ './safeScope');
      return withTimeouts(name, withSafeScope(build.global, container, singletons, safeScopes));
    },

    async errorLoadRemote({ id, error, from, lifecycle, remote, origin }) {
      const [name = ''] = id.split('/');
      if (lifecycle !== 'onLoad' || !remote || name === remote.name) return undefined;
      if (!rules.buildFailed(remote.name, error)) return undefined;
      // bundlers run the module's factory themselves
      const options = from === 'build' ? { loadFactory: false, from } : { from };
      return (origin as ModuleFederation).loadRemote(id, options);
    },

    beforeInit(args) {
      // `version-first` waits for every configured remote, even a dead one (module-federation/core#3877)
      args.userOptions.shareStrategy = 'loaded-first';
      for (const [name, shares] of Object.entries(args.options.shared))
        for (const share of shares) {
          share.strategy = 'loaded-first';
          makeRetryable(share, name, args.origin);
        }
      return args;
    },

    beforeRegisterShare(args) {
      makeRetryable(args.shared, args.pkgName, args.origin);
      return args;
    },

    // one share scope per page: in a separate one, a remote would get a second React
    initContainerShareScopeMap(args) {
      const { shareScope, hostShareScopeMap, options, origin } = args;
      const pageScope = hostShareScopeMap?.default ?? shareScope;
      for (const { scope } of Object.values(options.shared).flat())
        for (const name of scope) origin.shareScopeMap[name] = pageScope;
      return args;
    },

    resolveShare(args) {
      const { pkgName, shareInfo, resolver } = args;
      const versions = args.shareScopeMap[args.scope]?.[pkgName] ?? {};
      const hostShare = versions[singletons[pkgName]?.version ?? ''];
      // the host's copy is used even outside the range, with a warning; other libraries may have several copies
      Object.assign(
        shareInfo.shareConfig,
        hostShare ? { singleton: true, strictVersion: false } : { singleton: false },
      );
      args.resolver = () => {
        const resolvedShare = resolver();
        if (!resolvedShare) return resolvedShare;
        // cores before 2.1 return the share itself
        const share: typeof resolvedShare | Share = resolvedShare;
        const isWrapped = 'useTreesShaking' in share;
        const chosenShare = isWrapped ? resolvedShare.shared : (share as Share);
        const usedShare = hostShare ?? safeShare(chosenShare, versions, shareInfo);
        if (usedShare === chosenShare) return resolvedShare;
        return isWrapped
          ? { shared: usedShare, useTreesShaking: false }
          : (usedShare as unknown as typeof resolvedShare);
      };
      return args;
    },
  };
  return plugin;
}

/**
 * Uses another remote's copy only if it is already loaded, else the remote's own, so that it does not depend on another team's
 * file. Two remotes that load at the same time load two copies.
 */
function safeShare(chosenShare: Share, versions: Record<string, Share>, ownShare: Share): Share {
  if (chosenShare.lib || chosenShare.from === ownShare.from || typeof ownShare.get !== 'function') return chosenShare;
  // webpack's own container sets `loaded` when it starts loading
  if (chosenShare.loaded)
    return { ...chosenShare, get: () => Promise.resolve(chosenShare.get()).catch(() => ownShare.get()) };
  const range = ownShare.shareConfig.requiredVersion;
  const isCompatible = (version: string) => range === false || satisfy(version, range ?? `^${ownShare.version}`);
  const loadedEntry = Object.entries(versions).find(([version, { lib }]) => lib && isCompatible(version));
  if (loadedEntry) return loadedEntry[1];
  const registeredShare = versions[ownShare.version];
  if (registeredShare?.from === ownShare.from) return registeredShare;
  // another remote registered the same version first and has not loaded it
  const replacement = { ...ownShare, loading: null };
  versions[ownShare.version] = replacement;
  return replacement;
}

const retryableGetters = new WeakSet<object>();

/** Makes a failed share loadable again: the core caches the rejected promise (module-federation/core#5068). */
function makeRetryable(share: Share, name: string, origin: ModuleFederation) {
  const { get, lib, version } = share;
  if (lib || typeof get !== 'function' || retryableGetters.has(get)) return;
  share.get = async () => {
    try {
      return await get();
    } catch (cause) {
      for (const scope of share.scope) {
        const registeredShare = origin.shareScopeMap[scope]?.[name]?.[version];
        for (const failedShare of [share, registeredShare]) if (failedShare) failedShare.loading = null;
      }
      throw cause;
    }
  };
  retryableGetters.add(share.get);
}
