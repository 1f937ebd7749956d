import { matchPath } from '@liaozhai/shared/runtime';
import type { ComponentType } from 'react';
import type { PageSet, Preload } from '../federation/pageSet';
import { NotFoundPage } from '../screens/NotFoundPage';

export interface ScreenRoute {
  name: string;
  path: string;
  title: string;
  requiresAuth: boolean;
  keepAlive: boolean;
  outsideShell: boolean;
  source: RemoteSource | HostSource;
}

export interface RemoteSource {
  kind: 'remote';
  remote: string;
  preload: Preload;
}

interface HostSource {
  kind: 'host';
  page: () => Promise<{ default: ComponentType }>;
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
    path: '/test/list',
    title: '页面一览',
    source: { kind: 'host', page: () => import(/* webpackChunkName: "testList" */ '../testList/TestListPage') },
  }),
  hostRoute({
    name: 'emailVerify',
    path: '/email/verify/:id/:hash',
    title: '邮箱确认',
    outsideShell: true,
    source: {
      kind: 'host',
      page: () => import(/* webpackChunkName: "emailVerify" */ '../emailVerify/EmailVerifyPage'),
    },
  }),
];

export const notFoundRoute: ScreenRoute = hostRoute({
  name: 'notFound',
  path: '*',
  title: '没有这个页面',
  source: { kind: 'host', page: async () => ({ default: NotFoundPage }) },
});

/** Fixed words before parameters, parameter by parameter: `/gifts/new` is asked before `/gifts/:id`. */
const specificity = (path: string) =>
  path
    .split('/')
    .map((part) => (part.startsWith(':') ? '1' : part === '*' ? '0' : '2'))
    .join('');

/** Compares by code unit: the first `localeCompare` of a page loads the collator, 27 ms of a slow phone's start. */
function moreSpecificFirst(a: ScreenRoute, b: ScreenRoute): number {
  const [left, right] = [specificity(a.path), specificity(b.path)];
  if (left === right) return 0;
  return left < right ? 1 : -1;
}

/** Every screen of the pinned set and of the host, in the order in which they are matched. */
export function routeTable(set: Pick<PageSet, 'remotes'>): ScreenRoute[] {
  const remoteRoutes = Object.entries(set.remotes).flatMap(([remote, build]) =>
    build.routes.map(
      ({ preload, ...route }): ScreenRoute => ({ ...route, source: { kind: 'remote', remote, preload } }),
    ),
  );
  return [...hostRoutes, ...remoteRoutes].sort(moreSpecificFirst);
}

export const routeAt = (routes: readonly ScreenRoute[], pathname: string): ScreenRoute =>
  routes.find((route) => matchPath(route.path, pathname)) ?? notFoundRoute;
