import type { PageBuild } from '@liaozhai/shared/contract';
import {
  getInstance,
  type ModuleFederation,
  type ModuleFederationRuntimePlugin,
  satisfy,
} from '@module-federation/runtime';
import { inTime } from './remoteError';
import type { SafeScopes } from './safeScope';

type Share = ModuleFederation['shareScopeMap'][string][string][string];

/** What running an entry leaves on the global object. */
export type Container = Awaited<ReturnType<NonNullable<ModuleFederationRuntimePlugin['loadEntry']>>> & object;

export interface Rules {
  /** The build of a remote that runs in this page or is about to. */
  activeBuild(name: string): PageBuild | undefined;
  /** The build of this page's set whose container has this global name. */
  buildOf(global: string): PageBuild | undefined;
  /** Runs a build's entry. Rejects where the entry leaves no container. */
  loadEntry(build: PageBuild): Promise<Container>;
  /** Takes note of a build that failed as another remote asked for it. Returns whether another build took its place. */
  buildFailed(global: string, cause: unknown): boolean;
}

/** The name of the remote that a build is of. */
export const remoteNameOf = ({ id }: PageBuild) => id.slice(0, id.lastIndexOf('@'));

/** Files have limits of their own, the longest 30 s. Two remotes that import each other's modules wait for each other for ever. */
const LOOKUP_TIMEOUT_MS = 45_000;

/** The container, whose answers come in time or not at all. */
const inTimeOf = (remote: string, container: Container): Container => ({
  init: (...scopes) => inTime(remote, container.init(...scopes)),
  // its type leaves out the promise
  get: (...names) => inTime(remote, container.get(...names), LOOKUP_TIMEOUT_MS) as never,
});

/** A build as the runtime knows it: by its global name, so that two builds of one remote are two remotes. */
export const remoteOf = ({ global, entry }: PageBuild) => ({
  name: global,
  entryGlobalName: global,
  entry: new URL(entry, location.href).href,
});

/** A remote as some instance knows it. */
interface Configured {
  name?: string;
  alias?: string;
  entryGlobalName?: string;
}

/**
 * The page's rules for every federation instance in it: the host's, and each that a remote's bundle makes, of any
 * version. Which build answers, how its entry is loaded, and whose copy of a library is used.
 */
export function pagePlugin(
  rules: Rules,
  singletons: Record<string, { version: string }>,
): ModuleFederationRuntimePlugin & { name: string } {
  const safeScopes: SafeScopes = new Map();
  /** The remote of a request, as the instance is configured to call it: by name or alias, which may have a scope (`@team/gifts/Badge`). */
  function calledIn(id: string, { options }: ModuleFederation): { called: string; remote: Configured } {
    for (const remote of options.remotes)
      for (const called of [remote.name, remote.alias])
        if (called && `${id}/`.startsWith(`${called}/`)) return { called, remote };
    return { called: id.split('/')[0] ?? '', remote: {} };
  }
  /** Which build answers a request. Vite's plug-in makes names of its own: there the remote's is the global or the alias. */
  function answering(id: string, origin: ModuleFederation) {
    const { called, remote } = calledIn(id, origin);
    const names = [called, remote.name, remote.entryGlobalName, remote.alias];
    const builds = names.map((name) => rules.activeBuild(name ?? ''));
    return { called, alias: remote.alias ?? called, build: builds.find((build) => build !== undefined) };
  }
  const plugin: ModuleFederationRuntimePlugin & { name: string } = {
    name: 'liaozhai',

    // a remote that asks for another one gets the build that runs here, wherever its configuration points
    beforeRequest(args) {
      const { called, alias, ...answer } = answering(args.id, args.origin);
      // a name comes before a global: a former build's container may have had the name of its remote
      const build = answer.build ?? rules.buildOf(called);
      // without this the runtime would ask for the configured address or manifest
      if (!build) throw new Error(`this page has no remote "${alias}"`);
      args.origin.registerRemotes([remoteOf(build)]);
      return { ...args, id: build.global + args.id.slice(called.length) };
    },

    // the runtime's own way reads a manifest, which no page requests
    async beforePreloadRemote({ preloadOps, origin }) {
      const builds = preloadOps.map(({ nameOrAlias }) => answering(nameOrAlias, origin).build);
      if (!builds.every((build) => build !== undefined)) return;
      preloadOps.length = 0;
      await Promise.allSettled(builds.map(rules.loadEntry));
    },

    // must not return nothing: the runtime would append a script of its own
    async loadEntry({ remoteInfo }) {
      const build = rules.buildOf(remoteInfo.name);
      if (!build) throw new Error(`this page has no build "${remoteInfo.name}"`);
      const name = remoteNameOf(build);
      const container = await rules.loadEntry(build);
      // an instance of a core before 2.9 takes no global plug-in where it has none of its own
      getInstance(({ name }) => name === build.global)?.registerPlugins([plugin]);
      // containers of federation take a third argument; those of bundlers themselves know nothing of this plug-in
      if (container.init.length !== 2) return inTimeOf(name, container);
      const { withSafeScope } = await import(/* webpackChunkName: "safeScope" */ './safeScope');
      return inTimeOf(name, withSafeScope(build.global, container, singletons, safeScopes));
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
      // version-first waits for every remote that is named, dead ones too (module-federation/core#3877)
      args.userOptions.shareStrategy = 'loaded-first';
      for (const [name, shares] of Object.entries(args.options.shared))
        for (const share of shares) {
          share.strategy = 'loaded-first';
          keepRetryable(share, name, args.origin);
        }
      return args;
    },

    beforeRegisterShare(args) {
      keepRetryable(args.shared, args.pkgName, args.origin);
      return args;
    },

    // a page has one share scope: in a scope of its own, a remote's React would be a second one
    initContainerShareScopeMap(args) {
      const { shareScope, hostShareScopeMap, options, origin } = args;
      const ofPage = hostShareScopeMap?.default ?? shareScope;
      for (const { scope } of Object.values(options.shared).flat())
        for (const name of scope) origin.shareScopeMap[name] = ofPage;
      return args;
    },

    resolveShare(args) {
      const { pkgName, shareInfo, resolver } = args;
      const versions = args.shareScopeMap[args.scope]?.[pkgName] ?? {};
      const ofHost = versions[singletons[pkgName]?.version ?? ''];
      // no range refuses the host's copy; a warning names the range. Of any other library, two remotes may need two copies
      Object.assign(shareInfo.shareConfig, ofHost ? { singleton: true, strictVersion: false } : { singleton: false });
      args.resolver = () => {
        const resolved = resolver();
        if (!resolved) return resolved;
        // cores before 2.1 answer with the share itself
        const answer: typeof resolved | Share = resolved;
        const isWrapped = 'useTreesShaking' in answer;
        const chosen = isWrapped ? resolved.shared : (answer as Share);
        const shared = ofHost ?? safeShare(chosen, versions, shareInfo);
        if (shared === chosen) return resolved;
        return isWrapped ? { shared, useTreesShaking: false } : (shared as unknown as typeof resolved);
      };
      return args;
    },
  };
  return plugin;
}

/**
 * A copy that another remote carries is used once it is there. Before that a remote takes its own: its life must not
 * hang on another team's file. Two remotes that ask at the same time load two copies.
 */
function safeShare(chosen: Share, versions: Record<string, Share>, own: Share): Share {
  if (chosen.lib || chosen.from === own.from || typeof own.get !== 'function') return chosen;
  // the container of webpack's own plug-in says `loaded` as it begins to load
  if (chosen.loaded) return { ...chosen, get: () => Promise.resolve(chosen.get()).catch(() => own.get()) };
  const range = own.shareConfig.requiredVersion;
  const isFit = (version: string) => range === false || satisfy(version, range ?? `^${own.version}`);
  const loaded = Object.entries(versions).find(([version, { lib }]) => lib && isFit(version));
  if (loaded) return loaded[1];
  const registered = versions[own.version];
  if (registered?.from === own.from) return registered;
  // another remote brought the same version first and has not loaded it
  const replacement = { ...own, loading: null };
  versions[own.version] = replacement;
  return replacement;
}

const retryable = new WeakSet<object>();

/** A file that failed is requested again when it is wanted again: the core keeps the rejected promise (module-federation/core#5068). */
function keepRetryable(share: Share, name: string, origin: ModuleFederation) {
  const { get, lib, version } = share;
  if (lib || typeof get !== 'function' || retryable.has(get)) return;
  share.get = async () => {
    try {
      return await get();
    } catch (cause) {
      for (const scope of share.scope) {
        const registered = origin.shareScopeMap[scope]?.[name]?.[version];
        for (const failed of [share, registered]) if (failed) failed.loading = null;
      }
      throw cause;
    }
  };
  retryable.add(share.get);
}
