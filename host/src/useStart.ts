import { followUser, session } from '@liaozhai/shared/runtime';
import { useEffect } from 'react';
import { loadAuthPopup } from './auth/AuthGate';
import { warmKeptScreens } from './remotes/prefetch';
import { appRoutes } from './routes/appRoutes';
import { registerServiceWorker } from './serviceWorker/register';

/** What happens once: the stored user is refreshed with the first screen, everything else waits for idle. */
export function useStart(idle: boolean) {
  useEffect(() => {
    if (session.current().status === 'member') void session.refresh();
  }, []);
  useEffect(() => {
    if (!idle) return undefined;
    void warmKeptScreens(appRoutes);
    // a failed prefetch is tried again when the popup is needed
    loadAuthPopup().catch(() => undefined);
    void registerServiceWorker();
    return followUser();
  }, [idle]);
}
