import { hostRoutePaths, type PageSet } from '@liaozhai/shared/contract';
import { hostRoute, type ScreenRoute } from './routes';

const hostRoutes = [
  hostRoute({
    name: 'test',
    path: hostRoutePaths.test,
    title: '页面一览',
    page: () => import(/* webpackChunkName: "testList" */ './pages/TestListPage'),
  }),
  hostRoute({
    name: 'emailVerify',
    path: hostRoutePaths.emailVerify,
    title: '邮箱确认',
    outsideShell: true,
    page: () => import(/* webpackChunkName: "emailVerify" */ './pages/EmailVerifyPage'),
  }),
  hostRoute({
    name: 'passwordReset',
    path: hostRoutePaths.passwordReset,
    title: '设置新密码',
    outsideShell: true,
    page: () => import(/* webpackChunkName: "passwordReset" */ './auth/passwordReset'),
  }),
];

/** Every screen of the pinned set and of the host. */
export function routeTable(set: Pick<PageSet, 'remotes'>): ScreenRoute[] {
  const remoteRoutes = Object.entries(set.remotes).flatMap(([remote, build]) =>
    build.routes.map(({ preload: _, ...route }): ScreenRoute => ({ ...route, source: { kind: 'remote', remote } })),
  );
  return [...hostRoutes, ...remoteRoutes];
}
