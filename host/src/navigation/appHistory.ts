import { isLeaveGuarded, mayLeave, requestLogin, session } from '@liaozhai/shared/runtime';
import { routeAt, type ScreenRoute } from '../routes/routeTable';
import { tabs } from '../shell/tabs';
import { takeReloadDue } from '../updates/reloadDue';
import { createGuardedHistory } from './guardedHistory';

/** The app's history: asks about unsaved work, asks guests to sign in before a private screen, takes new sets. */
export const createAppHistory = (routes: readonly ScreenRoute[]) =>
  createGuardedHistory({
    resolve: (pathname) => (pathname === '/' ? tabs[0].path : pathname),
    isLeaveGuarded,
    mayLeave,
    mayEnter: (pathname) =>
      routeAt(routes, pathname).requiresAuth && session.current().status === 'guest' ? requestLogin() : true,
    wantsDocument: takeReloadDue,
  });
