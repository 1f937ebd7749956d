import { startTransition } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { rootOptions } from './rootOptions';

/** Puts the app in the place of what the server drew. */
export function renderApp() {
  const root = document.getElementById('root');
  if (!root) throw new Error('page.html has no element with the id "root"');
  // a transition's render makes way every few milliseconds
  startTransition(() => createRoot(root, rootOptions).render(<App />));
}
