import { matchRoute, type PageRoute } from '@liaozhai/shared/contract';
import type { ComponentType } from 'react';
import { NothingPage } from './pages/NothingPage';
import { tabs } from './shell/TabBar';

type LoadPage = () => Promise<{ default: ComponentType }>;

export interface ScreenRoute extends Omit<PageRoute, 'preload'> {
  source: { kind: 'remote'; remote: string } | { kind: 'host'; page: LoadPage };
}

type HostRoute = Pick<ScreenRoute, 'name' | 'path' | 'title'> & { outsideShell?: boolean; page: LoadPage };

export const hostRoute = ({ outsideShell = false, page, ...route }: HostRoute): ScreenRoute => ({
  ...{ ...route, requiresAuth: false, keepAlive: false, outsideShell },
  source: { kind: 'host', page },
});

// part of the host's script: a file of its own would add its hash to every page
const nothingRoute = (path: string, title: string) =>
  hostRoute({ name: `nothing ${path}`, path, title, page: async () => ({ default: NothingPage }) });

const notFoundRoute = nothingRoute('*', '没有这个页面');
/** A tab stays while its remote is withdrawn; its address is not reported as a mistake. */
const closedTabs = tabs.map(({ path, label }) => nothingRoute(path, label));

export const routeAt = (routes: readonly ScreenRoute[], pathname: string): ScreenRoute =>
  matchRoute(routes, pathname) ?? matchRoute(closedTabs, pathname) ?? notFoundRoute;
