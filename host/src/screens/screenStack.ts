import type { Place, Visit } from '../navigation/guardedHistory';
import type { ScreenRoute } from '../routes/routeTable';

/** A screen that is mounted: the one in sight, or one kept alive behind it. */
export interface OpenScreen {
  key: string;
  route: ScreenRoute;
  /** Where it was last seen; stays as it is while the screen is hidden. */
  place: Place;
  action: Visit['action'];
  /** Grows with each visit: the smallest is the first to go. */
  visited: number;
}

/** How many kept screens besides the tabs stay mounted. */
const KEPT_BESIDES_TABS = 3;

export const screenKey = (route: ScreenRoute, place: Place) => `${route.name}:${place.pathname}`;

const withoutExcess = (screens: OpenScreen[], activeKey: string, isTab: (path: string) => boolean) => {
  const kept = screens
    .filter(({ route }) => route.keepAlive && !isTab(route.path))
    .sort((a, b) => b.visited - a.visited)
    .slice(0, KEPT_BESIDES_TABS);
  return screens.filter(
    (screen) =>
      screen.key === activeKey || (screen.route.keepAlive && (isTab(screen.route.path) || kept.includes(screen))),
  );
};

/**
 * The mounted screens after a visit. Their order never changes, since moving a screen in the document
 * would lose its scroll positions; screens that were not visited stay the same objects, so they don't render again.
 */
export function afterVisit(
  screens: readonly OpenScreen[],
  { place, action }: Visit,
  route: ScreenRoute,
  isTab: (path: string) => boolean,
): OpenScreen[] {
  const key = screenKey(route, place);
  const visited = 1 + Math.max(0, ...screens.map((screen) => screen.visited));
  const next: OpenScreen = { key, route, place, action, visited };
  const known = screens.some((screen) => screen.key === key);
  const all = known ? screens.map((screen) => (screen.key === key ? next : screen)) : [...screens, next];
  return withoutExcess(all, key, isTab);
}
