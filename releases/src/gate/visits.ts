import type { PageBuild, PageRoute } from '@liaozhai/shared/contract';
import type { GateSubject } from './gate.ts';
import type { Visit } from './pageWatch.ts';
import type { Visitor } from './visitors.ts';

const MAX_PAGES_OF_OTHERS = 12;

const visitOf = (build: PageBuild, route: PageRoute, as: Visitor, by = build.id): Visit => ({
  id: build.id,
  path: route.path.replace(/:\w+\??/g, '1').replace(/\/\*$/, ''),
  global: route.requiresAuth || build.entryType ? null : build.global,
  as,
  by,
});

/**
 * Returns visits for the changed remotes: every route as a member, and as a guest the routes without login and one with it. With a new
 * host, also the first route of every other remote.
 */
export function visitsOf({ set, host, changed }: GateSubject): Visit[] {
  const isNew = (id: string) => changed.some((record) => record.id === id);
  return Object.values(set.remotes).flatMap((build) => {
    const routes = isNew(build.id) ? build.routes : isNew(host.id) ? build.routes.slice(0, 1) : [];
    const publicRoutes = routes.filter(({ requiresAuth }) => !requiresAuth);
    const loginRoutes = routes.filter(({ requiresAuth }) => requiresAuth).slice(0, 1);
    return [
      ...routes.map((route) => visitOf(build, route, 'member')),
      ...[...publicRoutes, ...loginRoutes].map((route) => visitOf(build, route, 'guest')),
    ];
  });
}

/** True if a slot's name begins with the route's, as in `story.chat`, so that the route probably shows it. */
export const isLikelyOn = (slot: string, { name }: { name: string }): boolean => slot.split('.')[0] === name;

/** Returns other remotes' pages, as a member: `likely` to show these slots, and the `rest` if a slot is likely on none. */
export function pagesForSlots(
  { set }: GateSubject,
  by: string,
  slots: readonly string[],
): { likely: Visit[]; rest: Visit[] } {
  const routesOfSet = Object.values(set.remotes).flatMap((build) => build.routes.map((route) => ({ build, route })));
  const pages = routesOfSet.filter(({ build }) => build.id !== by);
  const visits = (isLikely: boolean) =>
    pages
      .filter(({ route }) => slots.some((slot) => isLikelyOn(slot, route)) === isLikely)
      .slice(0, MAX_PAGES_OF_OTHERS)
      .map(({ build, route }) => visitOf(build, route, 'member', by));
  const hasLikely = (slot: string) => routesOfSet.some(({ route }) => isLikelyOn(slot, route));
  return { likely: visits(true), rest: slots.every(hasLikely) ? [] : visits(false) };
}
