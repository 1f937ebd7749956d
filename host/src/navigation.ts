import { hostRoutePaths, STORAGE_KEYS } from '@liaozhai/shared/contract';
import {
  createSignal,
  isLeaveGuarded,
  type Location,
  mayLeave,
  readJson,
  requestLogin,
  session,
  type To,
  tab,
} from '@liaozhai/shared/runtime';
import { listenTo, stopAll } from '@liaozhai/shared/ui';
import { createContext, use, useSyncExternalStore } from 'react';
import type { Page } from './page';
import { routeAt } from './routes';
import { tabs } from './shell/TabBar';

export interface HistoryPosition {
  location: Location;
  action: 'POP' | 'PUSH' | 'REPLACE';
  /** steps in this tab's history since the app was opened */
  index: number;
}

export type GuardedHistory = ReturnType<typeof createAppHistory>;

const newKey = () => Math.random().toString(36).slice(2, 10);

const hrefOf = (to: To) =>
  typeof to === 'string' ? to : `${to.pathname ?? location.pathname}${to.search ?? ''}${to.hash ?? ''}`;

/** Reads the current history entry. An entry without our key (first load, a typed hash) gets one. */
function readPosition(action: HistoryPosition['action'], fallbackIndex: number): HistoryPosition {
  if (typeof history.state?.key !== 'string')
    history.replaceState({ ...history.state, key: newKey(), idx: fallbackIndex }, '');
  const { key, idx, usr = null } = history.state;
  const { pathname, search, hash } = location;
  return { location: { pathname, search, hash, state: usr, key }, action, index: Number(idx ?? fallbackIndex) };
}

const POLL_INTERVAL_MS = 10;
const POLL_TIMEOUT_MS = 1000;
const MAX_STEP_MS = 1000;

/** Polls, since history steps are asynchronous and overlays stop the events of their own steps. */
async function pollUntil(isDone: () => boolean) {
  const deadline = performance.now() + POLL_TIMEOUT_MS;
  while (!isDone() && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
}

const isUnderOverlay = () => Boolean(history.state?.overlays?.length);

/** A closed dialog removes its own entry shortly after. */
const waitForOverlays = () => pollUntil(() => !isUnderOverlay());

/**
 * Creates the app's history, the router's navigator: confirms leaving unsaved work, prompts guests to sign in before a private
 * screen, and applies new sets. A guarded step back is undone, and repeated once confirmed.
 */
export function createAppHistory({ routes, pendingUpdate }: Pick<Page, 'routes' | 'pendingUpdate'>) {
  const { origin } = location;
  const resolveTarget = (to: To) => {
    const url = new URL(hrefOf(to), origin + location.pathname);
    // two leading slashes would name another site
    const pathname = url.pathname.replace(/\/{2,}/g, '/');
    return (pathname === hostRoutePaths.root ? tabs[0].path : pathname) + url.search + url.hash;
  };
  history.replaceState(history.state, '', resolveTarget(location.href));
  let position = readPosition('POP', consumeArrivalIndex());
  const departure = createDeparture(pendingUpdate.claim);
  let attempt = 0;
  let isUndoing = false;
  /** the next step back has been confirmed */
  let isStepConfirmed = false;
  /** A requested step arrives within this time. Until then the screen that it leaves still takes taps. */
  let stepEndsAt = 0;
  const navigationSignal = createSignal();

  const arrive = (next: HistoryPosition) => {
    position = next;
    navigationSignal.emit();
  };

  const write = (action: 'PUSH' | 'REPLACE', path: string, state: unknown) => {
    const index = action === 'PUSH' ? position.index + 1 : position.index;
    // a page that changes its own address, as a search does while one types, keeps its input and focus
    const isOwnAddress = action === 'REPLACE' && new URL(path, origin).pathname === location.pathname;
    if (!isOwnAddress && departure.isDue()) return departure.open(action, path, index);
    const before = action === 'PUSH' ? location.pathname + location.search : history.state?.before;
    if (action === 'REPLACE' && before === path) {
      // otherwise there would be two adjacent entries of the same page
      isStepConfirmed = true;
      return history.back();
    }
    const entry = { usr: state, key: newKey(), idx: index, before };
    try {
      if (action === 'PUSH') history.pushState(entry, '', path);
      else history.replaceState(entry, '', path);
    } catch {
      // Safari throws after a hundred entries within half a minute
      return departure.open(action, path, index);
    }
    arrive(readPosition(action, index));
  };

  const navigate = async (action: 'PUSH' | 'REPLACE', path: string, state: unknown) => {
    const ownAttempt = ++attempt;
    if (isLeaveGuarded() && !(await mayLeave())) return;
    const { requiresAuth } = routeAt(routes, new URL(path, origin).pathname);
    if (requiresAuth && session.current().status === 'guest' && !(await requestLogin())) return;
    // otherwise the overlay's entry would be replaced, and going back would reach the replaced page
    if (action === 'REPLACE' && isUnderOverlay()) await waitForOverlays();
    // the latest navigation wins
    if (ownAttempt === attempt) write(action, path, state);
  };

  const confirmStepBack = async (delta: number) => {
    const ownAttempt = ++attempt;
    isUndoing = true;
    history.go(-delta);
    await pollUntil(() => history.state?.key === position.location.key);
    isUndoing = false;
    if (!(await mayLeave())) return;
    await waitForOverlays();
    if (ownAttempt !== attempt) return;
    isStepConfirmed = true;
    history.go(delta);
  };

  const onPopState = () => {
    stepEndsAt = 0;
    if (isUndoing) return;
    const next = readPosition('POP', position.index + 1);
    // overlays have entries of their own with the key of their page
    if (next.location.key === position.location.key) return;
    const delta = next.index - position.index;
    if (delta !== 0 && !isStepConfirmed && isLeaveGuarded()) return void confirmStepBack(delta);
    isStepConfirmed = false;
    if (departure.isDue()) return location.reload();
    attempt += 1;
    arrive(next);
  };

  const stopListening = listenTo(window, ['popstate'], onPopState);
  return {
    current: (): HistoryPosition => position,
    subscribe: navigationSignal.on,
    createHref: hrefOf,
    push: (to: To, state: unknown = null) => void navigate('PUSH', resolveTarget(to), state),
    replace: (to: To, state: unknown = null) => void navigate('REPLACE', resolveTarget(to), state),
    go(delta: number) {
      const now = performance.now();
      if (now < stepEndsAt) return;
      stepEndsAt = now + MAX_STEP_MS;
      history.go(delta);
    },
    /** Stops listening to the browser. */
    dispose: stopAll(stopListening, departure.dispose),
  };
}

/** Navigates to a new document of the app. */
function createDeparture(wantsDocument: () => boolean) {
  let isLeaving = false;
  // the document may be restored from the back/forward cache
  const dispose = listenTo(window, ['pagehide'], () => {
    isLeaving = false;
  });
  return {
    /** Whether to open a new document: a newer set needs one, or one is already loading and the later tap must win. */
    isDue() {
      isLeaving ||= wantsDocument();
      return isLeaving;
    },
    open(action: 'PUSH' | 'REPLACE', path: string, index: number) {
      tab.set(STORAGE_KEYS.arrival, JSON.stringify({ path, index }));
      if (action === 'PUSH') location.assign(path);
      else location.replace(path);
    },
    dispose,
  };
}

/** The history index that the previous document stored for this one; 0 if it was opened from elsewhere. */
function consumeArrivalIndex(): number {
  const arrival = readJson(STORAGE_KEYS.arrival, tab) as { path: string; index: number } | null | undefined;
  tab.remove(STORAGE_KEYS.arrival);
  return arrival?.path === location.pathname + location.search + location.hash ? arrival.index : 0;
}

export const NavigationContext = createContext<GuardedHistory | null>(null);

/** The app's one history. Throws outside of the app. */
export function useNavigation(): GuardedHistory {
  const navigation = use(NavigationContext);
  if (!navigation) throw new Error('useNavigation outside of <App>');
  return navigation;
}

/** Returns the app's position. Re-renders with each navigation, so screens do not use it. */
export function usePosition(): HistoryPosition {
  const navigation = useNavigation();
  return useSyncExternalStore(navigation.subscribe, navigation.current);
}
