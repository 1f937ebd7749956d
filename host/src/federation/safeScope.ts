import { type ModuleFederation, satisfy } from '@module-federation/runtime';
import type { Container } from './pagePlugin';

type Scope = ModuleFederation['shareScopeMap'][string];

type Singletons = Record<string, { version: string }>;

/** Whether one version may be used in place of the other. */
const areAlike = (one: string, other: string) => satisfy(one, `^${other}`) || satisfy(other, `^${one}`);

/**
 * Share scope for a container that selects copies without the page's plug-in: the page's singletons, its own copies, and loaded
 * copies of other remotes with a version compatible with its own. Any other copy may never load, or throw if the container calls
 * it a singleton.
 */
function safeScope(scope: Scope, singletons: Singletons): Scope {
  const own = new Set<unknown>();
  const usable = (name: string): string[] => {
    const ofPage = singletons[name];
    const versions = Object.entries(scope[name] ?? {});
    const mine = versions.flatMap(([version, share]) => (own.has(share) ? [version] : []));
    const isUsable = ([version, share]: (typeof versions)[number]) =>
      own.has(share) ||
      ((share.lib || share.loaded) && (mine.length === 0 || mine.some((each) => areAlike(each, version))));
    return ofPage ? [ofPage.version] : versions.filter(isUsable).map(([version]) => version);
  };
  return new Proxy(scope, {
    getOwnPropertyDescriptor: (target, name) =>
      usable(String(name)).length > 0 ? Reflect.getOwnPropertyDescriptor(target, name) : undefined,
    get(target, name: string) {
      target[name] ??= {};
      return new Proxy(target[name], {
        ownKeys: () => usable(name),
        set(versions, version, share) {
          own.add(share);
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
    const safe = scopes.get(name) ?? safeScope(scope, singletons);
    scopes.set(name, safe);
    return container.init(safe, ...more);
  };
  return { ...container, init };
}
