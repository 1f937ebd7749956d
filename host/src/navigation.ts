import { hostRoutePaths, STORAGE_KEYS } from '@liaozhai/shared/contract';
import { createSignal, isLeaveGuarded, mayLeave, readJson, requestLogin, session, tab } from '@liaozhai/shared/runtime';
import { listenTo, stopAll } from '@liaozhai/shared/ui';
import { createContext, use, useSyncExternalStore } from 'react';
import type { Page } from './page';
import { routeAt } from './routes';
import { tabs } from './shell/TabBar';

/** A location in the router's format. */
export interface AppLocation {
  pathname: string;
  search: string;
  hash: string;
  state: unknown;
  key: string;
}

export interface HistoryPosition {
  location: AppLocation;
  action: 'POP' | 'PUSH' | 'REPLACE';
  /** steps in this tab's history since the app was opened */
  index: number;
}

/** Checks before a navigation. */
export interface Gates {
  /** Resolves a path's alias: the root is the first tab. */
  resolve: (pathname: string) => string;
  isLeaveGuarded: () => boolean;
  mayLeave: () => Promise<boolean>;
  /** Whether the location may be entered: `true`, or a promise of the outcome of a prompt. */
  mayEnter: (pathname: string) => true | Promise<boolean>;
  /** Whether the next location must be opened as a new document. */
  wantsDocument: () => boolean;
}

type Target = string | Partial<Pick<AppLocation, 'pathname' | 'search' | 'hash'>>;

export interface GuardedHistory {
  current: () => HistoryPosition;
  subscribe: (onNavigation: () => void) => () => void;
  createHref: (to: Target) => string;
  push: (to: Target, state?: unknown) => void;
  replace: (to: Target, state?: unknown) => void;
  go: (delta: number) => void;
  /** Stops listening to the browser. */
  dispose: () => void;
}

const newKey = () => Math.random().toString(36).slice(2, 10);

const hrefOf = (to: Target) =>
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

/** The router's navigator, which checks the gates first. A guarded step back is undone, and repeated once confirmed. */
function createGuardedHistory(gates: Gates): GuardedHistory {
  const { origin } = location;
  const resolveTarget = (to: Target) => {
    const url = new URL(hrefOf(to), origin + location.pathname);
    // two leading slashes would name another site
    return gates.resolve(url.pathname.replace(/\/{2,}/g, '/')) + url.search + url.hash;
  };
  history.replaceState(history.state, '', resolveTarget(location.href));
  let position = readPosition('POP', consumeArrivalIndex());
  const departure = createDeparture(gates.wantsDocument);
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
    if (departure.isDue()) return departure.open(action, path, index);
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
    if (gates.isLeaveGuarded() && !(await gates.mayLeave())) return;
    const permission = gates.mayEnter(new URL(path, origin).pathname);
    if (permission !== true && !(await permission)) return;
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
    if (!(await gates.mayLeave())) return;
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
    if (delta !== 0 && !isStepConfirmed && gates.isLeaveGuarded()) return void confirmStepBack(delta);
    isStepConfirmed = false;
    if (departure.isDue()) return location.reload();
    attempt += 1;
    arrive(next);
  };

  const stopListening = listenTo(window, ['popstate'], onPopState);
  return {
    current: () => position,
    subscribe: navigationSignal.on,
    createHref: hrefOf,
    push: (to, state = null) => void navigate('PUSH', resolveTarget(to), state),
    replace: (to, state = null) => void navigate('REPLACE', resolveTarget(to), state),
    go(delta) {
      const now = performance.now();
      if (now < stepEndsAt) return;
      stepEndsAt = now + MAX_STEP_MS;
      history.go(delta);
    },
    dispose: stopAll(stopListening, departure.dispose),
  };
}

interface Departure {
  /** Whether to open a new document: a newer set needs one, or one is already loading and the later tap must win. */
  isDue: () => boolean;
  open: (action: 'PUSH' | 'REPLACE', path: string, index: number) => void;
  dispose: () => void;
}

/** Navigates to a new document of the app. */
function createDeparture(wantsDocument: () => boolean): Departure {
  let isLeaving = false;
  // the document may be restored from the back/forward cache
  const dispose = listenTo(window, ['pagehide'], () => {
    isLeaving = false;
  });
  return {
    isDue() {
      isLeaving ||= wantsDocument();
      return isLeaving;
    },
    open(action, path, index) {
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

/** Creates the app's history: confirms leaving unsaved work, prompts guests to sign in before a private screen, applies new sets. */
export const createAppHistory = ({ routes, pendingUpdate }: Pick<Page, 'routes' | 'pendingUpdate'>) =>
  createGuardedHistory({
    resolve: (pathname) => (pathname === hostRoutePaths.root ? tabs[0].path : pathname),
    isLeaveGuarded,
    mayLeave,
    mayEnter: (pathname) =>
      routeAt(routes, pathname).requiresAuth && session.current().status === 'guest' ? requestLogin() : true,
    wantsDocument: pendingUpdate.claim,
  });
