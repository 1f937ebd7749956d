/** History entry of an open overlay, which catches the back gesture. */
interface Guard {
  id: string;
  /** Called when the user goes back; the entry has been removed by then. */
  onBack: () => void;
  /** Going back does not close the overlay now: the entry is restored. Read when the user goes back. */
  readonly stays: boolean;
  /** Whether its entry is in the history. An overlay that opens during a step back gets its entry after the step. */
  entered: boolean;
  released: boolean;
}

interface Guards {
  open: Guard[];
  /** The router's entry below the overlays, while a step over them may still arrive. */
  page: string | null;
  /** A step back over dead entries is in progress; a second one would leave the app. */
  stepping: boolean;
  /** Another document is loading; a step back would cancel it. */
  leaving: boolean;
}

// Each remote bundles its own copy of this file; all copies share one stack of overlays.
const GUARDS = Symbol.for('liaozhai.historyGuards');

function guards(): Guards {
  const holder = globalThis as { [GUARDS]?: Guards };
  if (!holder[GUARDS]) {
    holder[GUARDS] = { open: [], page: null, stepping: false, leaving: false };
    window.addEventListener('popstate', onPopState, { capture: true });
    // the browser may restore this document from the back-forward cache
    window.addEventListener('pageshow', stay);
  }
  return holder[GUARDS];
}

function leave() {
  guards().leaving = true;
}

function stay() {
  guards().leaving = false;
  settle();
}

/**
 * Pushes a history entry, so that going back closes the overlay instead of leaving the page, unless it `stays`. Returns the
 * function that removes the entry when the overlay closes otherwise.
 */
export function guardHistory(onBack: () => void, stays = () => false): () => void {
  const all = guards();
  const top = all.open.at(-1);
  // Closed and opened in the same task (strict mode, one sheet replacing another): reuse its entry.
  const inherited = top?.released && idsHere().at(-1) === top.id ? all.open.pop() : undefined;
  const guard: Guard = {
    id: inherited?.id ?? Math.random().toString(36).slice(2),
    onBack,
    get stays() {
      return stays();
    },
    entered: inherited?.entered ?? false,
    released: false,
  };
  all.open.push(guard);
  all.page = pageHere();
  // an earlier navigation has been cancelled
  all.leaving = false;
  window.addEventListener('beforeunload', leave);
  enterWaiting(all);
  return () => {
    guard.released = true;
    // A navigation started by the same tap must change the history first; then no step back is needed.
    setTimeout(() => {
      settle();
      if (all.open.length === 0) window.removeEventListener('beforeunload', leave);
    });
  };
}

/**
 * Steps back over the entries of overlays that the previous document left open. Call before the first overlay can open; resolves
 * at the page's own entry. `leaving` means that another document is loading, which a step would cancel.
 */
export async function leaveDeadOverlays(leaving = false): Promise<void> {
  guards().leaving = leaving;
  settle();
  while (guards().stepping)
    await new Promise((resolve) => window.addEventListener('popstate', resolve, { once: true }));
}

/** Pushes an entry for each overlay without one. An entry pushed during a step back would be removed by that step. */
function enterWaiting(all: Guards) {
  if (all.stepping) return;
  for (const guard of all.open) {
    if (guard.entered || guard.released) continue;
    guard.entered = true;
    try {
      pushEntry(all);
    } catch {
      // Safari allows 100 entries in 30 s: without one, going back also leaves the page below
      guard.entered = false;
    }
  }
}

function pushEntry(all: Guards) {
  const overlays = all.open.filter((guard) => guard.entered && !guard.released).map((guard) => guard.id);
  history.pushState({ ...history.state, overlays }, '');
}

/** Steps back over the entries of closed overlays. */
function settle() {
  const all = guards();
  // overlays that close meanwhile are handled when the step arrives
  if (all.stepping || all.leaving) return;
  const steps = deadEntriesHere(all);
  all.open = all.open.filter((guard) => !guard.released);
  if (steps > 0) stepBack(all, steps);
  else if (all.open.length === 0) all.page = null;
}

function stepBack(all: Guards, steps: number) {
  all.stepping = true;
  history.go(-steps);
}

function onPopState(event: PopStateEvent) {
  const all = guards();
  all.stepping = false;
  const samePage = all.page === pageHere();
  // The router would treat this as a navigation to the same entry, and its blocker would reload the page.
  if (samePage) event.stopImmediatePropagation();
  const gone = all.open.filter((guard) => guard.entered && !guard.released && !idsHere().includes(guard.id)).reverse();
  const staying = gone.some((guard) => guard.stays);
  for (const guard of gone) {
    if (guard.stays) continue;
    guard.released = true;
    guard.onBack();
  }
  const dead = staying ? 0 : deadEntriesHere(all);
  all.open = all.open.filter((guard) => !guard.released);
  all.page = all.open.length > 0 || dead > 0 ? pageHere() : null;
  if (dead > 0) stepBack(all, dead);
  else if (staying && samePage) history.go(1);
  else {
    if (staying) pushEntry(all);
    enterWaiting(all);
  }
}

function deadEntriesHere(all: Guards): number {
  const ids = idsHere();
  const alive = ids.findLastIndex((id) => all.open.some((guard) => guard.id === id && !guard.released));
  return ids.length - 1 - alive;
}

function idsHere(): string[] {
  const overlays: unknown = history.state?.overlays;
  return Array.isArray(overlays) ? overlays : [];
}

const pageHere = () => `${history.state?.key ?? ''} ${location.href}`;
