import { createRoot } from 'react-dom/client';
import { App } from './App';
import { startFederation } from './federation/start';
import { preloadScreen } from './remotes/prefetch';
import { appRoutes } from './routes/appRoutes';
import { tabs } from './shell/tabs';

startFederation();

// the first screen is loaded before the first render: React would hold a Suspense fallback for 300 ms
void preloadScreen(appRoutes, location.pathname === '/' ? tabs[0].path : location.pathname).then(() => {
  const root = document.getElementById('root');
  if (!root) throw new Error('page.html has no element with the id "root"');
  createRoot(root).render(<App />);
});
