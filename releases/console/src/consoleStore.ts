import type { ShownToast } from '@liaozhai/shared/ui';
import type { ConsoleState } from './consoleState';
import { texts } from './texts';

const TOAST_MS = 6000;

/** State of the signed-in page, and the one request that the user waits for. */
export function createConsoleStore(channel: string, refusalOf: (cause: unknown) => ConsoleState['notice']) {
  let state: ConsoleState = {
    channel,
    seen: null,
    previews: [],
    health: null,
    now: new Date(),
    stale: null,
    refused: false,
    running: null,
    question: null,
    comparison: null,
    notice: null,
    toast: null,
  };
  const listeners = new Set<() => void>();
  let toasts = 0;
  let begun = 0;
  let toastTimer: ReturnType<typeof setTimeout> | undefined;

  function set(parts: Partial<ConsoleState>): void {
    state = { ...state, ...parts };
    for (const listener of listeners) listener();
  }

  function say(text: string, kind: ShownToast['kind'] = 'plain'): void {
    clearTimeout(toastTimer);
    toasts += 1;
    set({ toast: { id: `${toasts}-${text}`, text, kind } });
    // a running request keeps its toast until it ends
    if (kind !== 'plain') toastTimer = setTimeout(() => set({ toast: null }), TOAST_MS);
  }

  /** Removes the toast; with a text, only if the toast shows that text. */
  function hush(text?: string): void {
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
    say,
    hush,

    /** The shown state, on which a decision is based. */
    decided: () => ({ channel: state.channel, seq: state.seen?.status.seq ?? 0 }),

    /** Runs one request at a time, with a toast meanwhile. A failure opens a notice. */
    async run(control: string, work: () => Promise<void>): Promise<void> {
      if (state.running !== null) return;
      begun += 1;
      const turn = begun;
      set({ running: control });
      say(texts.busy);
      try {
        await work();
        hush(texts.busy);
      } catch (cause) {
        hush();
        set({ notice: refusalOf(cause) });
      } finally {
        if (turn === begun) set({ running: null });
      }
    },
  };
}

export type ConsoleStore = ReturnType<typeof createConsoleStore>;
