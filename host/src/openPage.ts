import type { PageSet } from '@liaozhai/shared/contract';
import { pageInfoKnown, prepareClient, session } from '@liaozhai/shared/runtime';
import { leaveDeadOverlays } from '@liaozhai/shared/ui';
import type { ComponentType } from 'react';
import { createAssetLoader, installAssetLoader, loadTimeoutMs } from './federation/assetLoader';
import { guardLateFiles } from './federation/lateFiles';
import { readPageSet } from './federation/pageSet';
import { createPrefetcher } from './federation/prefetch';
import { createRemotes } from './federation/remotes';
import type { Page } from './page';
import { createRemoteComponents } from './remotes/remoteComponents';
import { routeTable } from './routeTable';
import { createPrerendered } from './screens/prerendered';
import { tabs } from './shell/TabBar';
import { createPendingUpdate } from './updates/pendingUpdate';
import { bearWrappers } from './wrappedNodes';

/**
 * Everything that an open page has one of. Made once by `boot.ts`, before anything is loaded: it puts the asset loader
 * and the federation runtime where builds find them and registers the set's remotes.
 */
export function createPage(set: PageSet, LocalBadge?: ComponentType) {
  const assetLoader = createAssetLoader(
    (url) => loadTimeoutMs(set.host.entry, remotes.hasOther(url)),
    (url) => !url.includes(folderOf(set.host.entry)),
  );
  installAssetLoader(assetLoader);
  const prefetcher = createPrefetcher(set.hashes, () => loadTimeoutMs(set.host.entry, true));
  const remotes = createRemotes({ set, assetLoader, prefetcher });
  const builds = Object.entries(set.remotes).map(([name, build]) => [name, remotes.activeBuild(name)?.id ?? build.id]);
  pageInfoKnown({ channel: set.channel, set: set.set, builds: { host: set.host.id, ...Object.fromEntries(builds) } });
  return {
    set,
    /** Says which remotes run from dev servers, where some do. */
    LocalBadge,
    /** Every screen: the host's own and what the set's remotes declare. */
    routes: routeTable(set),
    remotes,
    components: createRemoteComponents({ set, remotes, prefetcher }),
    prerendered: createPrerendered(document.getElementById('root')),
    pendingUpdate: createPendingUpdate(),
    onLateAsset: assetLoader.onLate,
  };
}

const folderOf = (file: string) => file.slice(0, file.lastIndexOf('/') + 1);

/** Makes the open page. One that runs remotes from dev servers asks those first what they have. */
export async function openPage(): Promise<Page> {
  const set = readPageSet();
  bearWrappers();
  // a development server's page has no list of hashes
  if (globalThis.__liaozhai) guardLateFiles();
  if (!set.override?.local) return createPage(set);
  installAssetLoader(createAssetLoader(() => loadTimeoutMs(set.host.entry, false)));
  const { withLocalRemotes, LocalBadge } = await import(
    /* webpackChunkName: "localRemotes" */ './federation/localRemotes'
  );
  return createPage(await withLocalRemotes(set), LocalBadge);
}

/** The page preloads the first screen with the host's own script, so a sound remote is there long before that. */
const FIRST_SCREEN_MS = 300;

/**
 * Loads the first screen. Awaited before the first render, since React would hold a Suspense fallback for 300 ms; a remote that is
 * dead or hangs does not hold up the app. Meanwhile the history loses the overlays that were open at a reload, since that step
 * would close a popup of the first render.
 */
export function startFirstScreen({ routes, components, prerendered }: Page): Promise<void> {
  const pathname = location.pathname === '/' ? tabs[0].path : location.pathname;
  // where a guest's whole screen came with the page, the first request may wait until the browser is idle
  if (!prerendered.content(pathname) || session.current().status === 'member') void prepareClient();
  const screen = components.preloadScreen(routes, pathname);
  // the way is free while the first screen is rendered
  void screen.then(() => prefetchTabs({ routes, components }));
  const loaded = Promise.all([screen, leaveDeadOverlays(globalThis.__liaozhai?.taps.isLeaving)]);
  const late = new Promise<void>((resolve) => setTimeout(resolve, FIRST_SCREEN_MS));
  return Promise.race([loaded.then(() => undefined), late]);
}

/** Fetches what the tabs' screens need; resolves when it is there or has failed. */
export const prefetchTabs = ({ routes, components }: Pick<Page, 'routes' | 'components'>): Promise<void> =>
  components.prefetchScreens(
    routes,
    tabs.map(({ path }) => path),
  );
