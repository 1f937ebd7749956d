import {
  DEFAULT_ORDER,
  isOpenSlot,
  memberPart,
  type PageBuild,
  type PageSet,
  type Preload,
  READY,
  type RemoteModule,
} from '@liaozhai/shared/contract';
import { api, offlineCache, session, store } from '@liaozhai/shared/runtime';
import { attempt } from '@liaozhai/shared/ui';
import { type ComponentType, lazy } from 'react';
import { assetFailureOf } from '../federation/assetLoader';
import { noFiles } from '../federation/pageSet';
import type { Prefetcher } from '../federation/prefetch';
import { pageError, RemoteError, withTimeout } from '../federation/remoteError';
import type { Remotes } from '../federation/remotes';
import { routeAt, type ScreenRoute } from '../routes';
import { createAlterationJudge, createSuspects } from './blame';

export type RemoteProps = Record<string, unknown>;
type LoadedComponent = ComponentType<RemoteProps>;

/** Content of a pane: a page or slot component of a remote, or a page of the host. */
export interface RemoteComponent {
  key: string;
  /** Loads the component, or joins a pending load; a failure is cached until `retry`. */
  load(): Promise<LoadedComponent>;
  /** The component to render: itself once loaded, since a lazy one would briefly show its fallback even then. */
  component(): LoadedComponent;
  /** Whether only a reload of the page can recover it. */
  isStuck(): boolean;
  /** For a manual retry: the next load requests everything again. */
  retry(): void;
  /** Returns whether to remount after an error. A load failure has already tried every build; a render error has not. */
  canRecover(cause: unknown): boolean;
  /**
   * Reports that a row threw and was replaced by a line. The build is suspected only if no row of the list renders. Returns
   * whether another build takes over to find out.
   */
  onRowError(cause: unknown, noneRendered: boolean): boolean;
  /** Reports that it rendered without an error, which decides whether a build that threw before is blamed. */
  onRender(): void;
}

interface LoadingComponent {
  promise: Promise<LoadedComponent>;
  /** set once it is loaded */
  component?: LoadedComponent;
  /** rendered until then */
  Pending: LoadedComponent;
  /** the build it was loaded from; undefined until the remote's module is loaded */
  build?: string;
}

/** `load` records the build that it loads from. */
function createComponent(key: string, load: (loading: Pick<LoadingComponent, 'build'>) => Promise<LoadedComponent>) {
  const state: { loading?: LoadingComponent } = {};
  function start(): LoadingComponent {
    const partialLoad: Pick<LoadingComponent, 'build'> = {};
    const promise = load(partialLoad);
    const Pending = lazy(async () => ({ default: await promise }));
    const loading: LoadingComponent = Object.assign(partialLoad, { promise, Pending });
    promise.then(
      (component) => Object.assign(loading, { component }),
      // the pane's boundary catches the failure through `Pending`
      () => undefined,
    );
    return loading;
  }
  const current = () => {
    state.loading ??= start();
    return state.loading;
  };
  return {
    key,
    load: () => current().promise,
    component: () => current().component ?? current().Pending,
    build: () => state.loading?.build,
    /** Discards the load. Returns the build it came from. */
    reset() {
      const build = state.loading?.build;
      delete state.loading;
      return build;
    },
  };
}

type LoadPart = () => Promise<{ default: unknown }>;
type PartFinder = (
  of: PageBuild | RemoteModule | undefined,
) => { preload?: Preload; page?: LoadPart; component?: LoadPart } | undefined;

/** One object per component, so that panes share its state. */
export function createRemoteComponents(set: PageSet, remotes: Remotes, prefetcher: Prefetcher) {
  const components = new Map<string, RemoteComponent>();
  const suspects = createSuspects(remotes);
  const judgeAlteration = createAlterationJudge();
  /** Load errors of parts of a screen that were seen before. */
  const seenErrors = new WeakSet<Error>();
  /** Row errors that have been logged. */
  const loggedErrors = new Set<string>();

  function getOrCreate(key: string, create: (key: string) => RemoteComponent): RemoteComponent {
    const component = components.get(key) ?? create(key);
    components.set(key, component);
    return component;
  }

  function hostComponent(key: string, page: () => Promise<{ default: ComponentType }>): RemoteComponent {
    const { reset, ...component } = createComponent(key, async () => (await page()).default as LoadedComponent);
    const never = () => false;
    const canRecover = () => {
      reset();
      return false;
    };
    return { ...component, isStuck: never, retry: reset, canRecover, onRowError: never, onRender: () => {} };
  }

  /** `find` returns the route or slot among those of a build, or of a remote's module. */
  function remoteComponent(key: string, remote: string, find: PartFinder): RemoteComponent {
    const filesInBuild = (): Preload => find(remotes.activeBuild(remote))?.preload ?? noFiles;
    /** Set at the first error: a copy of the device may be damaged, or of another build's shape. */
    let discarding: Promise<unknown> | undefined;
    function discardCopies(): boolean {
      if (discarding) return false;
      discarding = offlineCache
        .purge(undefined, `${remote}.`)
        .then((count) => count > 0 && store.dispatch(api.util.resetApiState()));
      return true;
    }
    async function load(loading: Pick<LoadingComponent, 'build'>): Promise<LoadedComponent> {
      if (discarding) await discarding;
      const release = prefetcher.prioritise(filesInBuild());
      return loadActive(loading)
        .catch((cause) => suspects.onLoadFailure(remote, cause))
        .finally(release);
    }
    async function loadActive(loading: Pick<LoadingComponent, 'build'>): Promise<LoadedComponent> {
      const start = performance.now();
      const module = await remotes.load(remote, () => void prefetcher.prefetch(filesInBuild()));
      const build = remotes.activeBuild(remote)?.id ?? '';
      loading.build = build;
      try {
        const { page, component: loadPart = page } = find(module) ?? {};
        if (!loadPart) throw new RemoteError(remote, 'module-missing', new Error(`src/remote provides no ${key}`));
        const { default: component } = await withTimeout(remote, loadPart());
        attempt(() => performance.measure(READY + build, { start }));
        return component as LoadedComponent;
      } catch (cause) {
        const error = pageError(remote, cause);
        if (remotes.fallBack(remote, build, error)) return load(loading);
        throw error;
      }
    }
    const { reset, ...component } = createComponent(key, load);
    let isStuck = false;
    return {
      ...component,
      isStuck: () => isStuck,
      retry() {
        reset();
        remotes.resetFailures(remote);
      },
      canRecover(cause) {
        const verdict = judgeAlteration(cause);
        if (verdict === 'again') return true;
        const build = reset();
        if (cause instanceof RemoteError || build === undefined) return false;
        if (verdict === 'lost') return remotes.stepAside(remote, build);
        if (assetFailureOf(cause) === undefined) return discardCopies() || suspects.onError(remote, build, cause);
        // a part of the screen by `React.lazy`, which caches the failure: this module never requests the file again
        const isKnown = seenErrors.has(cause as Error);
        seenErrors.add(cause as Error);
        isStuck = isKnown || !remotes.fallBack(remote, build, new RemoteError(remote, 'chunk-lost', cause));
        return !isStuck;
      },
      onRowError(cause, noneRendered) {
        const report = `${key}: a row could not be shown, ${String(cause)}`;
        if (!loggedErrors.has(report)) console.warn(report);
        loggedErrors.add(report);
        const runningBuild = component.build();
        // undefined: another row of the list has already reset it
        if (!noneRendered || runningBuild === undefined) return false;
        reset();
        return discardCopies() || suspects.onError(remote, runningBuild, cause, true);
      },
      onRender: () => suspects.onRender(remote),
    };
  }

  function ofRoute({ name, source }: ScreenRoute): RemoteComponent {
    if (source.kind === 'host') return getOrCreate(`host ${name}`, (key) => hostComponent(key, source.page));
    const { remote } = source;
    return getOrCreate(`${remote} route ${name}`, (key) =>
      remoteComponent(key, remote, (of) => of?.routes.find((route) => route.name === name)),
    );
  }

  /** The components of a slot, in order; a slot that is not open has at most one. */
  function ofSlot(name: string): RemoteComponent[] {
    const owners = Object.keys(set.remotes).flatMap((remote) => {
      const slot = set.remotes[remote]?.slots.find((each) => each.name === name);
      return slot ? [{ remote, order: slot.order ?? DEFAULT_ORDER }] : [];
    });
    owners.sort((a, b) => a.order - b.order || (a.remote < b.remote ? -1 : 1));
    return owners
      .slice(0, isOpenSlot(name) ? owners.length : 1)
      .map(({ remote }) =>
        getOrCreate(`${remote} slot ${name}`, (key) =>
          remoteComponent(key, remote, (of) => of?.slots.find((slot) => slot.name === name)),
        ),
      );
  }

  const memberPartOf = ({ name }: ScreenRoute) =>
    session.current().status === 'member' ? memberPart(name) : undefined;

  /** Files of the screen at a path, in the active build of its remote, including the members' part. */
  function filesAt(routes: readonly ScreenRoute[], pathname: string): Preload {
    const route = routeAt(routes, pathname);
    const build = route.source.kind === 'remote' ? remotes.activeBuild(route.source.remote) : undefined;
    const part = memberPartOf(route);
    const preloads = [
      ...(build?.routes.filter(({ name }) => name === route.name) ?? []),
      ...(build?.slots.filter(({ name }) => name === part) ?? []),
    ].map(({ preload }) => preload);
    return { js: preloads.flatMap(({ js }) => js), css: preloads.flatMap(({ css }) => css) };
  }

  return {
    ofRoute,
    ofSlot,
    /** Loads the page at a path. Resolves when it has loaded or failed; its pane shows the failure. */
    async preloadScreen(routes: readonly ScreenRoute[], pathname: string): Promise<void> {
      const route = routeAt(routes, pathname);
      const part = memberPartOf(route);
      // in one call, since two would abort each other's fetches
      const release = prefetcher.prioritise(filesAt(routes, pathname));
      await Promise.allSettled([ofRoute(route).load(), ...(part ? ofSlot(part).map((each) => each.load()) : [])]);
      release();
    },
    /** Prefetches the files of the screens at these paths in parallel. For likely next taps. */
    async prefetchScreens(routes: readonly ScreenRoute[], pathnames: readonly string[]): Promise<void> {
      await Promise.all(pathnames.map((pathname) => prefetcher.prefetch(filesAt(routes, pathname), 'low')));
    },
    /**
     * Prefetches the files of kept screens and of slots one after another, those of the visible remote first. Call once the first
     * screen is idle.
     */
    async prefetchKeptScreens(routes: readonly ScreenRoute[]): Promise<void> {
      const { source } = routeAt(routes, location.pathname);
      const visibleRemote = source.kind === 'remote' ? source.remote : null;
      const names = Object.keys(set.remotes).sort((a, b) => Number(b === visibleRemote) - Number(a === visibleRemote));
      for (const name of names) {
        const { routes: screens = [], slots = [] } = remotes.activeBuild(name) ?? {};
        for (const { preload } of [...screens.filter(({ keepAlive }) => keepAlive), ...slots])
          await prefetcher.prefetch(preload, 'low');
      }
    },
  };
}
