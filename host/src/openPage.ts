import type { PageSet } from '@liaozhai/shared/contract';
import { pageInfoKnown, prepareClient, session } from '@liaozhai/shared/runtime';
import { leaveDeadOverlays } from '@liaozhai/shared/ui';
import type { ComponentType } from 'react';
import { createAssetLoader, installAssetLoader, loadTimeoutMs } from './federation/assetLoader';
import { guardLateFiles } from './federation/lateFiles';
import { folderOf, readPageSet } from './federation/pageSet';
import { createPrefetcher } from './federation/prefetch';
import { createRemotes } from './federation/remotes';
import type { Page } from './page';
import { createRemoteComponents } from './remotes/remoteComponents';
import { routeTable } from './routeTable';
import { createPrerendered } from './screens/prerendered';
import { tabs } from './shell/TabBar';
import { createPendingUpdate } from './updates/pendingUpdate';
import { tolerateWrappedNodes } from './wrappedNodes';

interface LocalPreview {
  LocalBadge: ComponentType;
  LocalNothing: ComponentType<{ name: string; origin: string }>;
}

/** Creates the services of an open page, each once, and installs the asset loader. Must run before anything is loaded. */
export function createPage(set: PageSet, local?: LocalPreview) {
  const assetLoader = createAssetLoader(
    (url) => loadTimeoutMs(set.host.entry, remotes.hasFallback(url)),
    (url) => !new URL(url, location.href).href.startsWith(folderOf(set.host.entry)),
  );
  installAssetLoader(assetLoader);
  const prefetcher = createPrefetcher(set.hashes, () => loadTimeoutMs(set.host.entry, true));
  const remotes = createRemotes(set, assetLoader, prefetcher);
  const builds = Object.entries(set.remotes).map(([name, build]) => [name, remotes.activeBuild(name)?.id ?? build.id]);
  pageInfoKnown({ channel: set.channel, set: set.set, builds: { host: set.host.id, ...Object.fromEntries(builds) } });
  return {
    set,
    /** Parts that show the state of remotes from dev servers; undefined without any. */
    local,
    /** Every screen of the host and of the set's remotes. */
    routes: routeTable(set),
    remotes,
    components: createRemoteComponents(set, remotes, prefetcher),
    prerendered: createPrerendered(document.getElementById('root')),
    pendingUpdate: createPendingUpdate(),
    onLateAsset: assetLoader.onLate,
  };
}

/** Creates the open page. If it runs remotes from dev servers, loads their descriptions first. */
export async function openPage(): Promise<Page> {
  const set = readPageSet();
  tolerateWrappedNodes();
  // a development server's page has no hashes
  if (globalThis.__liaozhai) guardLateFiles();
  if (!set.override?.local) return createPage(set);
  installAssetLoader(createAssetLoader(() => loadTimeoutMs(set.host.entry, false)));
  const local = await import(/* webpackChunkName: "localRemotes" */ './federation/localRemotes');
  return createPage(await local.withLocalRemotes(set), local);
}

/** Limit for the first screen, whose files are preloaded: a working remote loads far sooner. */
const FIRST_SCREEN_TIMEOUT_MS = 300;

/**
 * Loads the first screen, for at most 300 ms. Awaited before the first render, since React would show a Suspense fallback for 300
 * ms. Also removes history entries of overlays that were open at a reload; a later removal would close a popup of the first
 * render.
 */
export function startFirstScreen({ routes, components, prerendered }: Page): Promise<void> {
  const pathname = location.pathname === '/' ? tabs[0].path : location.pathname;
  // for a guest's fully prerendered screen, the first request may wait until the browser is idle
  if (!prerendered.content(pathname) || session.current().status === 'member') void prepareClient();
  const screen = components.preloadScreen(routes, pathname);
  // the network is idle while the first screen is rendered
  void screen.then(() => prefetchTabs({ routes, components }));
  const firstScreen = Promise.all([screen, leaveDeadOverlays(globalThis.__liaozhai?.taps.isLeaving)]);
  const timeout = new Promise<void>((resolve) => setTimeout(resolve, FIRST_SCREEN_TIMEOUT_MS));
  return Promise.race([firstScreen.then(() => undefined), timeout]);
}

/** Prefetches the files of the tabs' screens; resolves when they have loaded or failed. */
export const prefetchTabs = ({ routes, components }: Pick<Page, 'routes' | 'components'>): Promise<void> =>
  components.prefetchScreens(
    routes,
    tabs.map(({ path }) => path),
  );
