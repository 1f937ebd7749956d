import '@liaozhai/shared/ui/tokens.css';
import '@liaozhai/shared/ui/base.css';
import type { PageSet } from '@liaozhai/shared/contract';
import { errorText, hasNetwork } from '@liaozhai/shared/format';
import {
  capabilities,
  followUser,
  hostConfig,
  isOnline,
  onDraftRefused,
  Provider,
  session,
  store,
  toast,
  useToasts,
} from '@liaozhai/shared/runtime';
import { keepFocus, listenTo, Toaster } from '@liaozhai/shared/ui';
import { type ComponentType, lazy, Suspense, startTransition, useEffect, useState } from 'react';
import { createRoot, type Root, type RootOptions } from 'react-dom/client';
import { AuthGate, loadAuthPopup } from './auth/AuthGate';
import { BUNDLED } from './federation/pageSet';
import { createAppHistory, type GuardedHistory, NavigationContext } from './navigation';
import { prefetchTabs } from './openPage';
import { type Page, PageContext } from './page';
import { RemoteSlots } from './remotes/RemotePane';
import { Shell } from './shell/Shell';

// if it cannot be loaded, the page stays on its pinned set
const UpdateWatch = lazy<ComponentType>(() =>
  import(/* webpackChunkName: "updateWatch" */ './updates/UpdateWatch').catch(() => ({ default: () => null })),
);

/** The whole app: screens in the shell; the auth popup and the toasts over everything. */
export function App({ page }: { page: Page }) {
  const [navigation] = useState(() => createAppHistory(page));
  useEffect(() => () => navigation.dispose(), [navigation]);
  useEffect(keepFocus, []);
  useEffect(warnOnceOfLostDrafts, []);
  useEffect(stayWhileOffline, []);
  const isIdle = useIdle(page);
  useStart(page, navigation, isIdle);
  // a bundled development page has no release channel to watch
  const isReleased = page.set.set !== BUNDLED;
  return (
    <Provider store={store}>
      <PageContext value={page}>
        <NavigationContext value={navigation}>
          <RemoteSlots>
            <Shell />
            <AuthGate />
          </RemoteSlots>
          <Toasts />
          {isIdle && isReleased && (
            <Suspense>
              <UpdateWatch />
            </Suspense>
          )}
        </NavigationContext>
      </PageContext>
    </Provider>
  );
}

function warnOnceOfLostDrafts(): () => void {
  const stop = onDraftRefused(() => {
    stop();
    toast('这台设备存不下没发出的话，关掉页面前请先发出', { kind: 'error' });
  });
  return stop;
}

/** Without a network, a link out of the app would end at the browser's error page. */
const stayWhileOffline = () =>
  listenTo<MouseEvent>(document, ['click'], (event) => {
    const isOut = event.target instanceof Element && event.target.closest('a[href^="http"]');
    // a service of ours that is away keeps nobody from another one
    if (!isOut || event.defaultPrevented || isOnline() || hasNetwork()) return;
    event.preventDefault();
    toast(errorText({ kind: 'offline' }), { kind: 'error' });
  });

const IDLE_TIMEOUT_MS = 5000;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Turns true when the browser is idle after the first render and the tabs' code has loaded, failed or taken five seconds. */
function useIdle(page: Page): boolean {
  const [isIdle, setIsIdle] = useState(false);
  useEffect(() => {
    const markIdle = () => void Promise.race([prefetchTabs(page), pause(IDLE_TIMEOUT_MS)]).then(() => setIsIdle(true));
    if (!('requestIdleCallback' in window)) {
      const timer = setTimeout(markIdle, IDLE_TIMEOUT_MS / 4);
      return () => clearTimeout(timer);
    }
    const handle = requestIdleCallback(markIdle, { timeout: IDLE_TIMEOUT_MS });
    return () => cancelIdleCallback(handle);
  }, [page]);
  return isIdle;
}

/** One-time start: refreshes the stored user with the first screen; everything else waits for idle. */
function useStart(page: Page, navigation: GuardedHistory, isIdle: boolean) {
  const { set, routes, components, remotes } = page;
  useEffect(() => {
    void (session.current().status === 'member' ? session.refresh() : session.recover());
  }, []);
  useEffect(() => {
    if (!isIdle) return undefined;
    remotes.reportLoads();
    // last, since the worker caches every file of the set, most of which may never be needed
    void components.prefetchKeptScreens(routes).then(() => registerServiceWorker(set));
    let stopCapabilities = () => {};
    const capabilitiesReady = new Promise<void>((resolve) => {
      stopCapabilities = capabilities.follow(resolve);
    });
    // a failed prefetch is tried again when the popup is needed
    loadAuthPopup().then(({ followInvites }) => followInvites(capabilitiesReady), ignore);
    startWatchers(page, navigation);
    if (/MicroMessenger/.test(navigator.userAgent)) void capabilitiesReady.then(() => startWechat(navigation));
    const stopUser = followUser();
    return () => {
      stopUser();
      stopCapabilities();
    };
  }, [isIdle, set, routes, components, remotes, page, navigation]);
}

/** Optional: a chunk that cannot be loaded is ignored. */
const ignore = () => undefined;

function startWatchers(page: Page, navigation: GuardedHistory) {
  const isReleased = page.set.set !== BUNDLED;
  const { vitals, spans } = hostConfig();
  if (isReleased) import(/* webpackChunkName: "errors" */ './errors').then((chunk) => chunk.watchErrors(page), ignore);
  if (isReleased && Math.random() < vitals.sample)
    import(/* webpackChunkName: "vitals" */ './vitals').then((chunk) => chunk.watchVitals(page, navigation), ignore);
  if (spans) import(/* webpackChunkName: "spans" */ './spans').then((chunk) => chunk.watchSpans(page), ignore);
}

function startWechat(navigation: GuardedHistory) {
  if (capabilities.has('wechat.share'))
    import(/* webpackChunkName: "wechat" */ './wechat').then((chunk) => chunk.shareInWechat(navigation), ignore);
}

/** A separate component, so that a toast re-renders nothing else. */
const Toasts = () => <Toaster toasts={useToasts()} />;

/** Replaces the server-rendered content by the app, at the same scroll position. Throws if the page has no `#root`. */
export function renderApp(page: Page): Root {
  const element = document.getElementById('root');
  if (!element) throw new Error('page.html has no element with the id "root"');
  const root = createRoot(element, { ...rootOptions, onUncaughtError });
  // as a transition, the first render yields to input every few milliseconds
  startTransition(() => root.render(<App page={page} />));
  return root;
}

/** Logs errors that a pane's boundary caught as warnings; `console.error` is left for uncaught ones. */
export const rootOptions = {
  onCaughtError: (error: unknown) => console.warn('contained in its pane:', error),
} satisfies RootOptions;

/** React has unmounted the app, so the notice offers a reload. */
function onUncaughtError(error: unknown) {
  globalThis.__liaozhai?.failed();
  reportError(error);
}

const workerUrl = '/sw.js';

function trustedScript(): string {
  const policy = window.trustedTypes?.createPolicy('liaozhai-sw', {
    createScriptURL(url) {
      if (url !== workerUrl) throw new TypeError(`${url} is not the service worker`);
      return url;
    },
  });
  return policy ? (policy.createScriptURL(workerUrl) as string) : workerUrl;
}

/** Registers the service worker and sends it the files of the page's set. Call when idle. */
async function registerServiceWorker({ set, hashes }: PageSet) {
  if (!('serviceWorker' in navigator) || set === BUNDLED) return;
  try {
    await navigator.serviceWorker.register(trustedScript(), { updateViaCache: 'none' });
    const { active } = await navigator.serviceWorker.ready;
    active?.postMessage({ type: 'set', hashes });
  } catch (cause) {
    // private windows and old WebViews refuse; the app works without a worker
    console.info('no service worker', cause);
  }
}
