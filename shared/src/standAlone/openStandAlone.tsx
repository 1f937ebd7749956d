import '../ui/tokens.css';
import '../ui/base.css';
import { lazy, Suspense, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter, Link, Navigate, Route, Routes } from 'react-router-dom';
import { Provider, type RemoteModule, ScreenContext, store } from '../runtime';
import { LogInStrip } from './LogInStrip';
import styles from './openStandAlone.module.css';

function StandAlone({ remote }: { remote: RemoteModule }) {
  const scroller = useRef<HTMLElement>(null);
  // one lazy component per route for the life of the page
  const [pages] = useState(() => remote.routes.map(({ path, page }) => ({ path, Page: lazy(page) })));
  const first = remote.routes[0]?.path ?? '/';
  return (
    <main ref={scroller} className={styles.screen}>
      <ScreenContext value={{ scroller, isActive: true }}>
        <Suspense fallback={null}>
          <Routes>
            {pages.map(({ path, Page }) => (
              <Route key={path} path={path} element={<Page />} />
            ))}
            <Route path="*" element={<Navigate to={first.replace(/:\w+/g, 'nie-xiaoqian')} replace />} />
          </Routes>
        </Suspense>
      </ScreenContext>
    </main>
  );
}

/** One remote by itself, for `pnpm --filter <remote> dev`: its routes without the host, against a running product's API. */
export function openStandAlone(remote: RemoteModule) {
  const root = document.getElementById('root');
  if (!root) throw new Error('the page has no element with the id "root"');
  createRoot(root).render(
    <Provider store={store}>
      <BrowserRouter>
        <nav className={styles.routes}>
          {remote.routes.map(({ path, title }) => (
            <Link key={path} to={path}>
              {title}
            </Link>
          ))}
          <LogInStrip />
        </nav>
        <StandAlone remote={remote} />
      </BrowserRouter>
    </Provider>,
  );
}
