import { createDeparture, takeArrivalIndex } from './departure';

/** A place in the app, as the router knows it. */
export interface Place {
  pathname: string;
  search: string;
  hash: string;
  state: unknown;
  key: string;
}

export interface Visit {
  place: Place;
  action: 'POP' | 'PUSH' | 'REPLACE';
  /** position in this tab's history since the app was opened */
  index: number;
}

/** Who has a say before the app goes to another place. */
export interface Gates {
  /** The place that a path stands for: the root is the first tab. */
  resolve: (pathname: string) => string;
  /** Whether someone wants to be asked before the place is left. */
  isLeaveGuarded: () => boolean;
  mayLeave: () => Promise<boolean>;
  /** Whether the place may be entered; `true` at once, or the answer to a question put to the visitor. */
  mayEnter: (pathname: string) => true | Promise<boolean>;
  /** Whether the next place is to be opened as a new document. */
  wantsDocument: () => boolean;
}

type Target = string | Partial<Pick<Place, 'pathname' | 'search' | 'hash'>>;

export interface GuardedHistory {
  current: () => Visit;
  subscribe: (onVisit: () => void) => () => void;
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

/** Reads the browser's entry; one that is not ours (first load, a typed hash) is marked as ours. */
function readVisit(action: Visit['action'], fallbackIndex: number): Visit {
  if (typeof history.state?.key !== 'string')
    history.replaceState({ ...history.state, key: newKey(), idx: fallbackIndex }, '');
  const { key, idx, usr = null } = history.state;
  const { pathname, search, hash } = location;
  return { place: { pathname, search, hash, state: usr, key }, action, index: Number(idx ?? fallbackIndex) };
}

const lookEveryMs = 10;
const patienceMs = 1000;

/** The browser steps at its own time, and overlays keep the event of their own steps to themselves: so look. */
async function until(arrived: () => boolean) {
  const latest = Date.now() + patienceMs;
  while (!arrived() && Date.now() < latest) await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
}

const isUnderOverlay = () => Boolean(history.state?.overlays?.length);

/** An answered question takes its own entry away just after it closed. */
const overlaysGone = () => until(() => !isUnderOverlay());

/**
 * The app's way through the browser's history: the router's navigator, which asks the gates first.
 * A step back that must be asked about is undone, asked about, and then taken again.
 */
export function createGuardedHistory(gates: Gates): GuardedHistory {
  const { origin } = location;
  const resolved = (to: Target) => {
    const url = new URL(hrefOf(to), origin + location.pathname);
    return gates.resolve(url.pathname) + url.search + url.hash;
  };
  history.replaceState(history.state, '', resolved(location.href));
  let visit = readVisit('POP', takeArrivalIndex());
  const departure = createDeparture(gates.wantsDocument);
  let attempt = 0;
  let undoing = false;
  /** the next step back has been asked about */
  let allowed = false;
  const listeners = new Set<() => void>();

  const arrive = (next: Visit) => {
    visit = next;
    for (const listener of listeners) listener();
  };

  const write = (action: 'PUSH' | 'REPLACE', path: string, state: unknown) => {
    const index = action === 'PUSH' ? visit.index + 1 : visit.index;
    if (departure.isDue()) return departure.to(action, path, index);
    const entry = { usr: state, key: newKey(), idx: index };
    if (action === 'PUSH') history.pushState(entry, '', path);
    else history.replaceState(entry, '', path);
    arrive(readVisit(action, index));
  };

  const navigate = async (action: 'PUSH' | 'REPLACE', path: string, state: unknown) => {
    const mine = ++attempt;
    if (gates.isLeaveGuarded() && !(await gates.mayLeave())) return;
    const entry = gates.mayEnter(new URL(path, origin).pathname);
    if (entry !== true && !(await entry)) return;
    // else the overlay's entry would be replaced, and back would lead to the page that was to go
    if (action === 'REPLACE' && isUnderOverlay()) await overlaysGone();
    // whoever set out later decides where we go
    if (mine === attempt) write(action, path, state);
  };

  const stepBackAfterAsking = async (delta: number) => {
    const mine = ++attempt;
    undoing = true;
    history.go(-delta);
    await until(() => history.state?.key === visit.place.key);
    undoing = false;
    if (!(await gates.mayLeave())) return;
    await overlaysGone();
    if (mine !== attempt) return;
    allowed = true;
    history.go(delta);
  };

  const onPopState = () => {
    if (undoing) return;
    const next = readVisit('POP', visit.index + 1);
    // overlays lie over their page with entries of their own under the page's key
    if (next.place.key === visit.place.key) return;
    const delta = next.index - visit.index;
    if (delta !== 0 && !allowed && gates.isLeaveGuarded()) return void stepBackAfterAsking(delta);
    allowed = false;
    if (departure.isDue()) return location.reload();
    attempt += 1;
    arrive(next);
  };

  window.addEventListener('popstate', onPopState);
  return {
    current: () => visit,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    createHref: hrefOf,
    push: (to, state = null) => void navigate('PUSH', resolved(to), state),
    replace: (to, state = null) => void navigate('REPLACE', resolved(to), state),
    go: (delta) => history.go(delta),
    dispose: () => {
      window.removeEventListener('popstate', onPopState);
      departure.dispose();
    },
  };
}
