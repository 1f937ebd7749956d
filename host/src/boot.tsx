import { createRoot } from 'react-dom/client';
import { App } from './App';
import { startFederation } from './federation/start';
import { preloadScreen } from './remotes/prefetch';
import { rootOptions } from './rootOptions';
import { appRoutes } from './routes/appRoutes';
import { tabs } from './shell/tabs';

/** The page preloads the first screen with the host's own script, so a sound remote is there long before that. */
const patienceMs = 300;

startFederation();

// the first screen is loaded before the first render, since React would hold a Suspense fallback for 300 ms;
// a remote that is dead or hangs must not hold up the app
const loaded = preloadScreen(appRoutes, location.pathname === '/' ? tabs[0].path : location.pathname);
const tired = new Promise<void>((resolve) => setTimeout(resolve, patienceMs));
void Promise.race([loaded, tired]).then(() => {
  const root = document.getElementById('root');
  if (!root) throw new Error('page.html has no element with the id "root"');
  createRoot(root, rootOptions).render(<App />);
});
