import { createRoot } from 'react-dom/client';
import { App } from './App';
import { startFederation } from './federation/start';

// the first screen's remote is loaded before the first render: a Suspense fallback would be held for 300 ms
void startFederation(location.pathname).then(() => {
  const root = document.getElementById('root');
  if (!root) throw new Error('page.html has no element with the id "root"');
  createRoot(root).render(<App />);
});
