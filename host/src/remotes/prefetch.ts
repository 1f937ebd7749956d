import { activeBuild, pageSet, warm } from '../federation';
import { routeAt, type ScreenRoute } from '../routes/routeTable';
import { routePart } from './partSources';
import { loadPart } from './parts';

/** Starts loading a screen's page for a finger that is about to ask for it. A failure is left to the pane. */
export function prefetchScreen(routes: readonly ScreenRoute[], pathname: string) {
  void preloadScreen(routes, pathname);
}

/** Resolves once the page at a path is loaded or has failed, so that a first render does not have to wait for it. */
export const preloadScreen = (routes: readonly ScreenRoute[], pathname: string): Promise<void> =>
  loadPart(routePart(routeAt(routes, pathname))).then(
    () => undefined,
    () => undefined,
  );

/**
 * Fetches what the kept screens and the slots in them need, one after another, those of the remote on screen first.
 * Call once the first screen is at rest.
 */
export async function warmKeptScreens(routes: readonly ScreenRoute[]) {
  const { source } = routeAt(routes, location.pathname);
  const onScreen = source.kind === 'remote' ? source.remote : null;
  const names = Object.keys(pageSet.remotes).sort((a, b) => Number(b === onScreen) - Number(a === onScreen));
  for (const name of names) {
    const { routes: screens = [], slots = [] } = activeBuild(name) ?? {};
    for (const part of [...screens.filter(({ keepAlive }) => keepAlive), ...slots]) await warm(part.preload, 'low');
  }
}
