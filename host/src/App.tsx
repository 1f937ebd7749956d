import '@liaozhai/shared/ui/tokens.css';
import '@liaozhai/shared/ui/base.css';
import { Provider, store } from '@liaozhai/shared/runtime';
import { type ComponentType, lazy, Suspense, useEffect, useState } from 'react';
import { AuthGate } from './auth/AuthGate';
import { pageSet } from './federation';
import { createAppHistory } from './navigation/appHistory';
import { NavigationContext } from './navigation/NavigationContext';
import { RemoteSlots } from './remotes/RemoteSlots';
import { appRoutes } from './routes/appRoutes';
import { Shell } from './shell/Shell';
import { ToastsView } from './toasts/ToastsView';
import { useIdle } from './useIdle';
import { useStart } from './useStart';

// without it the page stays on its pinned set, which is no reason to fail
const UpdateWatch = lazy<ComponentType>(() =>
  import(/* webpackChunkName: "updateWatch" */ './updates/UpdateWatch').catch(() => ({ default: () => null })),
);

/** A monolith of development has no channel to look at. */
const isReleased = pageSet.set !== 'bundled';

/** The whole app: screens in the shell; the auth popup and the toasts over everything. */
export function App() {
  const [navigation] = useState(() => createAppHistory(appRoutes));
  useEffect(() => () => navigation.dispose(), [navigation]);
  const idle = useIdle();
  useStart(idle);
  return (
    <Provider store={store}>
      <NavigationContext value={navigation}>
        <RemoteSlots>
          <Shell routes={appRoutes} />
        </RemoteSlots>
        <AuthGate />
        <ToastsView />
        {idle && isReleased && (
          <Suspense>
            <UpdateWatch />
          </Suspense>
        )}
      </NavigationContext>
    </Provider>
  );
}
