import { type ModuleFederation, satisfy } from '@module-federation/runtime';
import type { Container } from './pagePlugin';

type Scope = ModuleFederation['shareScopeMap'][string];

type Singletons = Record<string, { version: string }>;

/** Whether one version may be used where the other is expected. */
const areAlike = (one: string, other: string) => satisfy(one, `^${other}`) || satisfy(other, `^${one}`);

/**
 * The share scope for a container that chooses copies without the page's plug-in. It sees the page's singletons and its own copies.
 * It sees another remote's copy once that is loaded, if its version is like one of its own. Any other copy may be dead, or throw where
 * the container calls it a singleton.
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
    // `get` has made what is set here
    set: () => true,
  });
}

/** By the container's name: it refuses to be opened with a second scope, which another remote may do. */
export type SafeScopes = Map<string, Scope>;

/** Opens a container with no more of the share scope than is safe for it. */
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
