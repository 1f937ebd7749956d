import { startTransition } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { App } from './App';
import { rootOptions } from './rootOptions';
import { followDrawnScreen } from './screens/drawnScreen';

/** Puts the app in the place of what the server drew, scrolled as far. */
export function renderApp(): Root {
  const element = document.getElementById('root');
  if (!element) throw new Error('page.html has no element with the id "root"');
  followDrawnScreen(element);
  const root = createRoot(element, rootOptions);
  // a transition's render makes way every few milliseconds
  startTransition(() => root.render(<App />));
  return root;
}
