import type { ShownToast } from '@liaozhai/shared/ui';
import type { ConsoleState } from './consoleState';
import { texts } from './texts';

const TOAST_MS = 6000;

/** State of the signed-in page, and the one request that the user waits for. */
export function createConsoleStore(channel: string, refusalOf: (cause: unknown) => ConsoleState['notice']) {
  let state: ConsoleState = {
    channel,
    snapshot: null,
    previews: [],
    health: null,
    now: new Date(),
    refreshFailure: null,
    isExpired: false,
    running: null,
    question: null,
    comparison: null,
    notice: null,
    toast: null,
  };
  const listeners = new Set<() => void>();
  let toastCount = 0;
  let runCount = 0;
  let toastTimer: ReturnType<typeof setTimeout> | undefined;

  function set(parts: Partial<ConsoleState>): void {
    state = { ...state, ...parts };
    for (const listener of listeners) listener();
  }

  function showToast(text: string, kind: ShownToast['kind'] = 'plain'): void {
    clearTimeout(toastTimer);
    toastCount += 1;
    set({ toast: { id: `${toastCount}-${text}`, text, kind } });
    // a running request keeps its toast until it ends
    if (kind !== 'plain') toastTimer = setTimeout(() => set({ toast: null }), TOAST_MS);
  }

  /** Removes the toast; with a text, only if the toast shows that text. */
  function hideToast(text?: string): void {
    if (text !== undefined && state.toast?.text !== text) return;
    clearTimeout(toastTimer);
    set({ toast: null });
  }

  return {
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    state: () => state,
    set,
    showToast,
    hideToast,

    /** The shown state, on which a decision is based. */
    currentBasis: () => ({ channel: state.channel, seq: state.snapshot?.status.seq ?? 0 }),

    /** Runs one request at a time, with a toast meanwhile. A failure opens a notice. */
    async run(control: string, work: () => Promise<void>): Promise<void> {
      if (state.running !== null) return;
      runCount += 1;
      const runNumber = runCount;
      set({ running: control });
      showToast(texts.busy);
      try {
        await work();
        hideToast(texts.busy);
      } catch (cause) {
        hideToast();
        set({ notice: refusalOf(cause) });
      } finally {
        if (runNumber === runCount) set({ running: null });
      }
    },
  };
}

export type ConsoleStore = ReturnType<typeof createConsoleStore>;
