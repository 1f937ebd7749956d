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
    window.addEventListener('pageshow', cancelLeaving);
  }
  return holder[GUARDS];
}

function markLeaving() {
  guards().leaving = true;
}

function cancelLeaving() {
  guards().leaving = false;
  removeDeadEntries();
}

/**
 * Pushes a history entry, so that going back closes the overlay instead of leaving the page, unless it `stays`. Returns the
 * function that removes the entry when the overlay closes otherwise.
 */
export function guardHistory(onBack: () => void, stays = () => false): () => void {
  const state = guards();
  const topGuard = state.open.at(-1);
  // Closed and opened in the same task (strict mode, one sheet replacing another): reuse its entry.
  const reusableGuard = topGuard?.released && currentOverlayIds().at(-1) === topGuard.id ? state.open.pop() : undefined;
  const guard: Guard = {
    id: reusableGuard?.id ?? Math.random().toString(36).slice(2),
    onBack,
    get stays() {
      return stays();
    },
    entered: reusableGuard?.entered ?? false,
    released: false,
  };
  state.open.push(guard);
  state.page = currentPageKey();
  // an earlier navigation has been cancelled
  state.leaving = false;
  window.addEventListener('beforeunload', markLeaving);
  pushPendingEntries(state);
  return () => {
    guard.released = true;
    // A navigation started by the same tap must change the history first; then no step back is needed.
    setTimeout(() => {
      removeDeadEntries();
      if (state.open.length === 0) window.removeEventListener('beforeunload', markLeaving);
    });
  };
}

/**
 * Steps back over the entries of overlays that the previous document left open. Call before the first overlay can open; resolves
 * at the page's own entry. `leaving` means that another document is loading, which a step would cancel.
 */
export async function leaveDeadOverlays(leaving = false): Promise<void> {
  guards().leaving = leaving;
  removeDeadEntries();
  while (guards().stepping)
    await new Promise((resolve) => window.addEventListener('popstate', resolve, { once: true }));
}

/** Pushes an entry for each overlay without one. An entry pushed during a step back would be removed by that step. */
function pushPendingEntries(state: Guards) {
  if (state.stepping) return;
  for (const guard of state.open) {
    if (guard.entered || guard.released) continue;
    guard.entered = true;
    try {
      pushEntry(state);
    } catch {
      // Safari allows 100 entries in 30 s: without one, going back also leaves the page below
      guard.entered = false;
    }
  }
}

function pushEntry(state: Guards) {
  const overlays = state.open.filter((guard) => guard.entered && !guard.released).map((guard) => guard.id);
  history.pushState({ ...history.state, overlays }, '');
}

/** Steps back over the entries of closed overlays. */
function removeDeadEntries() {
  const state = guards();
  // overlays that close meanwhile are handled when the step arrives
  if (state.stepping || state.leaving) return;
  const steps = countDeadEntries(state);
  state.open = state.open.filter((guard) => !guard.released);
  if (steps > 0) stepBack(state, steps);
  else if (state.open.length === 0) state.page = null;
}

function stepBack(state: Guards, steps: number) {
  state.stepping = true;
  history.go(-steps);
}

function onPopState() {
  const state = guards();
  state.stepping = false;
  const isSamePage = state.page === currentPageKey();
  const removedGuards = state.open
    .filter((guard) => guard.entered && !guard.released && !currentOverlayIds().includes(guard.id))
    .reverse();
  const isAnyStaying = removedGuards.some((guard) => guard.stays);
  for (const guard of removedGuards) {
    if (guard.stays) continue;
    guard.released = true;
    guard.onBack();
  }
  const deadEntries = isAnyStaying ? 0 : countDeadEntries(state);
  state.open = state.open.filter((guard) => !guard.released);
  state.page = state.open.length > 0 || deadEntries > 0 ? currentPageKey() : null;
  if (deadEntries > 0) stepBack(state, deadEntries);
  else if (isAnyStaying && isSamePage) history.go(1);
  else {
    if (isAnyStaying) pushEntry(state);
    pushPendingEntries(state);
  }
}

function countDeadEntries(state: Guards): number {
  const ids = currentOverlayIds();
  const lastLiveIndex = ids.findLastIndex((id) => state.open.some((guard) => guard.id === id && !guard.released));
  return ids.length - 1 - lastLiveIndex;
}

function currentOverlayIds(): string[] {
  const overlays: unknown = history.state?.overlays;
  return Array.isArray(overlays) ? overlays : [];
}

const currentPageKey = () => `${history.state?.key ?? ''} ${location.href}`;
