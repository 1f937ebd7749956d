import { leaveDeadOverlays } from '@liaozhai/shared/ui';
import { startFederation } from './federation/start';
import { preloadScreen } from './remotes/prefetch';
import { appRoutes } from './routes/appRoutes';
import { tabs } from './shell/tabs';

/** The page preloads the first screen with the host's own script, so a sound remote is there long before that. */
const patienceMs = 300;

/**
 * Starts federation and loads the first screen. To be waited for before the first render, since React would hold a
 * Suspense fallback for 300 ms; a remote that is dead or hangs does not hold up the app. Meanwhile what a reload left
 * of open overlays goes from the history, since a step under way would take a popup of the first render with it.
 */
export function startFirstScreen(): Promise<void> {
  startFederation();
  const loaded = preloadScreen(appRoutes, location.pathname === '/' ? tabs[0].path : location.pathname);
  const tired = new Promise<void>((resolve) => setTimeout(resolve, patienceMs));
  return Promise.race([Promise.all([loaded, leaveDeadOverlays()]).then(() => undefined), tired]);
}
