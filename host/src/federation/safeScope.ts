import { type ModuleFederation, satisfy } from '@module-federation/runtime';
import type { Container } from './pagePlugin';

type Scope = ModuleFederation['shareScopeMap'][string];

type Singletons = Record<string, { version: string }>;

/** Whether one version may be used in place of the other. */
const areCompatible = (one: string, other: string) => satisfy(one, `^${other}`) || satisfy(other, `^${one}`);

/**
 * Share scope for a container that selects copies without the page's plug-in: the page's singletons, its own copies, and loaded
 * copies of other remotes with a version compatible with its own. Any other copy may never load, or throw if the container calls
 * it a singleton.
 */
function safeScope(scope: Scope, singletons: Singletons): Scope {
  const ownShares = new Set<unknown>();
  const usableVersions = (name: string): string[] => {
    const pageSingleton = singletons[name];
    const versions = Object.entries(scope[name] ?? {});
    const ownVersions = versions.flatMap(([version, share]) => (ownShares.has(share) ? [version] : []));
    const isUsable = ([version, share]: (typeof versions)[number]) =>
      ownShares.has(share) ||
      ((share.lib || share.loaded) &&
        (ownVersions.length === 0 || ownVersions.some((each) => areCompatible(each, version))));
    return pageSingleton ? [pageSingleton.version] : versions.filter(isUsable).map(([version]) => version);
  };
  return new Proxy(scope, {
    getOwnPropertyDescriptor: (target, name) =>
      usableVersions(String(name)).length > 0 ? Reflect.getOwnPropertyDescriptor(target, name) : undefined,
    get(target, name: string) {
      target[name] ??= {};
      return new Proxy(target[name], {
        ownKeys: () => usableVersions(name),
        set(versions, version, share) {
          ownShares.add(share);
          return Reflect.set(versions, version, share);
        },
      });
    },
    // `get` has already created the entry
    set: () => true,
  });
}

/** By the container's name: a container refuses a second `init` with another scope, which another remote may attempt. */
export type SafeScopes = Map<string, Scope>;

/** Wraps a container so that its `init` receives only the safe part of the share scope. */
export function withSafeScope(
  name: string,
  container: Container,
  singletons: Singletons,
  scopes: SafeScopes,
): Container {
  const init: Container['init'] = (scope, ...more) => {
    const containerScope = scopes.get(name) ?? safeScope(scope, singletons);
    scopes.set(name, containerScope);
    return container.init(containerScope, ...more);
  };
  return { ...container, init };
}
