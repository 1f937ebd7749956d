import { DEFAULT_ORDER, isOpenSlot, memberPart, type PageSet, type Preload, READY } from '@liaozhai/shared/contract';
import { session } from '@liaozhai/shared/runtime';
import { attempt } from '@liaozhai/shared/ui';
import { type ComponentType, lazy } from 'react';
import { assetFailureOf } from '../federation/assetLoader';
import type { Prefetcher } from '../federation/prefetch';
import { inTime, pageError, RemoteError } from '../federation/remoteError';
import type { Remotes } from '../federation/remotes';
import { routeAt, type ScreenRoute } from '../routes';
import { createAlterations, createSuspects } from './blame';

export type RemoteProps = Record<string, unknown>;
type Loaded = ComponentType<RemoteProps>;

/** What a pane shows: a page or a slot's component of a remote, or a page of the host itself. */
export interface RemoteComponent {
  key: string;
  /** Starts loading it, or joins the load under way; a failed one is remembered until `retry`. */
  load(): Promise<Loaded>;
  /** The component to render: itself once loaded, since a lazy one would show its fallback for a moment even then. */
  component(): Loaded;
  /** Whether only a new document brings it back. */
  isStuck(): boolean;
  /** For a retry by hand: the next load asks for everything again. */
  retry(): void;
  /**
   * After it failed: whether another build can take its place. One that could not be loaded has been through every
   * build already; one that threw in rendering has not.
   */
  canRecover(cause: unknown): boolean;
  /**
   * A row threw and left a line in its place: a fault of its data, unless no row of its list stands. Returns whether another build
   * takes the place of this one, to find out.
   */
  rowThrew(cause: unknown, noneStands: boolean): boolean;
  /** It is on the screen and has not thrown: what took the place of a build that threw says who is to blame. */
  stands(): void;
}

interface LoadingComponent {
  promise: Promise<Loaded>;
  /** there once it is loaded */
  component?: Loaded;
  /** rendered instead of it until then */
  Pending: Loaded;
  /** the build it comes from; unknown until the remote's module is there */
  build?: string;
}

/** `load` notes the build that it loads from. */
function createComponent(key: string, load: (loading: Pick<LoadingComponent, 'build'>) => Promise<Loaded>) {
  const state: { loading?: LoadingComponent } = {};
  function start(): LoadingComponent {
    const begun: Pick<LoadingComponent, 'build'> = {};
    const promise = load(begun);
    const Pending = lazy(async () => ({ default: await promise }));
    const loading: LoadingComponent = Object.assign(begun, { promise, Pending });
    promise.then(
      (component) => Object.assign(loading, { component }),
      // the pane's boundary meets the failure through `Pending`
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
    /** Forgets the load; returns the build it came from. */
    reset() {
      const build = state.loading?.build;
      delete state.loading;
      return build;
    },
  };
}

export interface RemoteComponents {
  /** The page of a route. */
  ofRoute(route: ScreenRoute): RemoteComponent;
  /** What fills a slot, in order; of several parts in a slot for one the first. */
  ofSlot(name: string): RemoteComponent[];
  /** Resolves once the page at a path is loaded or has failed, which its pane shows. */
  preloadScreen(routes: readonly ScreenRoute[], pathname: string): Promise<void>;
  /** Fetches what the screens at these paths need, all in parallel. For likely next taps. */
  prefetchScreens(routes: readonly ScreenRoute[], pathnames: readonly string[]): Promise<void>;
  /**
   * Fetches what the kept screens and the slots in them need, one after another, those of the remote on screen first.
   * Call once the first screen is at rest.
   */
  prefetchKeptScreens(routes: readonly ScreenRoute[]): Promise<void>;
}

interface ComponentsContext {
  set: PageSet;
  remotes: Remotes;
  prefetcher: Prefetcher;
}

const nothing: Preload = { js: [], css: [] };

/** One object per component, so that panes agree on its state. */
export function createRemoteComponents({ set, remotes, prefetcher }: ComponentsContext): RemoteComponents {
  const components = new Map<string, RemoteComponent>();
  const suspects = createSuspects(remotes);
  const alterations = createAlterations();
  /** Errors of files that failed as a part of a screen. */
  const lostFiles = new WeakSet<Error>();
  /** Faults of data that the console has shown. */
  const reported = new Set<string>();

  function once(key: string, make: (key: string) => RemoteComponent): RemoteComponent {
    const component = components.get(key) ?? make(key);
    components.set(key, component);
    return component;
  }

  function hostComponent(key: string, page: () => Promise<{ default: ComponentType }>): RemoteComponent {
    const { reset, ...component } = createComponent(key, async () => (await page()).default as Loaded);
    const canRecover = () => {
      reset();
      return false;
    };
    return { ...component, isStuck: () => false, retry: reset, canRecover, rowThrew: () => false, stands: () => {} };
  }

  /** `preload` names its files in the active build, `find` its module once the remote's is there. */
  function remoteComponent(
    key: string,
    remote: string,
    preload: () => Preload | undefined,
    find: () => Promise<(() => Promise<{ default: unknown }>) | undefined>,
  ): RemoteComponent {
    async function load(loading: Pick<LoadingComponent, 'build'>): Promise<Loaded> {
      const done = prefetcher.giveWayTo(preload() ?? nothing);
      return loadActive(loading).finally(done);
    }
    async function loadActive(loading: Pick<LoadingComponent, 'build'>): Promise<Loaded> {
      const start = performance.now();
      await remotes.load(remote, () => void prefetcher.prefetch(preload() ?? nothing));
      const build = remotes.activeBuild(remote)?.id ?? '';
      loading.build = build;
      try {
        const page = await find();
        if (!page) throw new RemoteError(remote, 'module-missing', new Error(`src/remote provides no ${key}`));
        const { default: component } = await inTime(remote, page());
        attempt(() => performance.measure(READY + build, { start }));
        return component as Loaded;
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
        remotes.startAnew(remote);
      },
      canRecover(cause) {
        const verdict = alterations.verdict(cause);
        if (verdict === 'again') return true;
        const build = reset();
        if (cause instanceof RemoteError) {
          suspects.otherFailed(remote);
          return false;
        }
        if (build === undefined) return false;
        if (verdict === 'lost') return remotes.stepAside(remote, build);
        if (assetFailureOf(cause) === undefined) return suspects.threw(remote, build, cause);
        // a part of the screen by `React.lazy`, which keeps the failure: this module never asks for the file again
        const isKnown = lostFiles.has(cause as Error);
        lostFiles.add(cause as Error);
        isStuck = isKnown || !remotes.fallBack(remote, build, new RemoteError(remote, 'chunk-lost', cause));
        return !isStuck;
      },
      rowThrew(cause, noneStands) {
        const report = `${key}: a row could not be shown, ${String(cause)}`;
        if (!reported.has(report)) console.warn(report);
        reported.add(report);
        const running = component.build();
        // the other rows of the list have asked before
        if (!noneStands || running === undefined) return false;
        reset();
        return suspects.threw(remote, running, cause, true);
      },
      stands: () => suspects.stands(remote),
    };
  }

  function ofRoute({ name, source }: ScreenRoute): RemoteComponent {
    if (source.kind === 'host') return once(`host ${name}`, (key) => hostComponent(key, source.page));
    const { remote } = source;
    return once(`${remote} route ${name}`, (key) =>
      remoteComponent(
        key,
        remote,
        () => remotes.activeBuild(remote)?.routes.find((route) => route.name === name)?.preload,
        async () => (await remotes.load(remote)).routes.find((route) => route.name === name)?.page,
      ),
    );
  }

  function ofSlot(name: string): RemoteComponent[] {
    const owners = Object.keys(set.remotes).flatMap((remote) => {
      const slot = set.remotes[remote]?.slots.find((each) => each.name === name);
      return slot ? [{ remote, order: slot.order ?? DEFAULT_ORDER }] : [];
    });
    owners.sort((a, b) => a.order - b.order || (a.remote < b.remote ? -1 : 1));
    return owners.slice(0, isOpenSlot(name) ? owners.length : 1).map(({ remote }) =>
      once(`${remote} slot ${name}`, (key) =>
        remoteComponent(
          key,
          remote,
          () => remotes.activeBuild(remote)?.slots.find((slot) => slot.name === name)?.preload,
          async () => (await remotes.load(remote)).slots.find((slot) => slot.name === name)?.component,
        ),
      ),
    );
  }

  const memberPartOf = ({ name }: ScreenRoute) =>
    session.current().status === 'member' ? memberPart(name) : undefined;

  /** The files of the screen at a path, in the active build of its remote; with what only members see of it. */
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
    async preloadScreen(routes, pathname) {
      const route = routeAt(routes, pathname);
      const part = memberPartOf(route);
      // together, or each would break off what is fetched for the other
      const done = prefetcher.giveWayTo(filesAt(routes, pathname));
      await Promise.allSettled([ofRoute(route).load(), ...(part ? ofSlot(part).map((each) => each.load()) : [])]);
      done();
    },
    async prefetchScreens(routes, pathnames) {
      await Promise.all(pathnames.map((pathname) => prefetcher.prefetch(filesAt(routes, pathname), 'low')));
    },
    async prefetchKeptScreens(routes) {
      const { source } = routeAt(routes, location.pathname);
      const onScreen = source.kind === 'remote' ? source.remote : null;
      const names = Object.keys(set.remotes).sort((a, b) => Number(b === onScreen) - Number(a === onScreen));
      for (const name of names) {
        const { routes: screens = [], slots = [] } = remotes.activeBuild(name) ?? {};
        for (const { preload } of [...screens.filter(({ keepAlive }) => keepAlive), ...slots])
          await prefetcher.prefetch(preload, 'low');
      }
    },
  };
}
