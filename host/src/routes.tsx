import { hostRoutePaths, matchRoute, type PageSet, paths } from '@liaozhai/shared/contract';
import { Link } from '@liaozhai/shared/runtime';
import { Button, EmptyState } from '@liaozhai/shared/ui';
import type { ComponentType } from 'react';
import styles from './routes.module.css';

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

const notFoundRoute: ScreenRoute = hostRoute({
  name: 'notFound',
  path: '*',
  title: '没有这个页面',
  source: { kind: 'host', page: async () => ({ default: NotFoundPage }) },
});

/** Every screen of the pinned set and of the host. */
export function routeTable(set: Pick<PageSet, 'remotes'>): ScreenRoute[] {
  const remoteRoutes = Object.entries(set.remotes).flatMap(([remote, build]) =>
    build.routes.map(({ preload: _, ...route }): ScreenRoute => ({ ...route, source: { kind: 'remote', remote } })),
  );
  return [...hostRoutes, ...remoteRoutes];
}

export const routeAt = (routes: readonly ScreenRoute[], pathname: string): ScreenRoute =>
  matchRoute(routes, pathname) ?? notFoundRoute;

/** For addresses that no build of the set knows. */
function NotFoundPage() {
  return (
    <div className={styles.page}>
      <h1 className={styles.title}>没有这个页面</h1>
      <EmptyState
        text="链接可能写错了，也可能已经失效。"
        drawing="mountain"
        action={<Button asLink={<Link to={paths.explore()} replace />}>回到发现</Button>}
      />
    </div>
  );
}
