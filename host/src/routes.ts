import { hostRoutePaths, matchRoute, type PageSet } from '@liaozhai/shared/contract';
import type { ComponentType } from 'react';
import { NothingPage } from './pages/NothingPage';
import { tabs } from './shell/TabBar';

export interface ScreenRoute {
  name: string;
  path: string;
  title: string;
  requiresAuth: boolean;
  keepAlive: boolean;
  outsideShell: boolean;
  source: { kind: 'remote'; remote: string } | { kind: 'host'; page: () => Promise<{ default: ComponentType }> };
}

const hostRoute = (route: Partial<ScreenRoute> & Pick<ScreenRoute, 'name' | 'path' | 'title' | 'source'>) => ({
  requiresAuth: false,
  keepAlive: false,
  outsideShell: false,
  ...route,
});

const hostRoutes: ScreenRoute[] = [
  hostRoute({
    name: 'test',
    path: hostRoutePaths.test,
    title: '页面一览',
    source: { kind: 'host', page: () => import(/* webpackChunkName: "testList" */ './pages/TestListPage') },
  }),
  hostRoute({
    name: 'emailVerify',
    path: hostRoutePaths.emailVerify,
    title: '邮箱确认',
    outsideShell: true,
    source: {
      kind: 'host',
      page: () => import(/* webpackChunkName: "emailVerify" */ './pages/EmailVerifyPage'),
    },
  }),
  hostRoute({
    name: 'passwordReset',
    path: hostRoutePaths.passwordReset,
    title: '设置新密码',
    outsideShell: true,
    source: { kind: 'host', page: () => import(/* webpackChunkName: "passwordReset" */ './auth/passwordReset') },
  }),
];

const nothingRoute = (path: string, title: string): ScreenRoute =>
  hostRoute({
    name: `nothing ${path}`,
    path,
    title,
    // in the page's own script: a file of its own would cost each page its hashes
    source: { kind: 'host', page: async () => ({ default: NothingPage }) },
  });

const notFoundRoute = nothingRoute('*', '没有这个页面');
/** The tabs stay while the remote behind one is withdrawn: its address is no mistake of the reader's. */
const closedTabs = tabs.map(({ path, label }) => nothingRoute(path, label));

/** Every screen of the pinned set and of the host. */
export function routeTable(set: Pick<PageSet, 'remotes'>): ScreenRoute[] {
  const remoteRoutes = Object.entries(set.remotes).flatMap(([remote, build]) =>
    build.routes.map(({ preload: _, ...route }): ScreenRoute => ({ ...route, source: { kind: 'remote', remote } })),
  );
  return [...hostRoutes, ...remoteRoutes];
}

export const routeAt = (routes: readonly ScreenRoute[], pathname: string): ScreenRoute =>
  matchRoute(routes, pathname) ?? matchRoute(closedTabs, pathname) ?? notFoundRoute;
