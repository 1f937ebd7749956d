import type { ShownToast } from '@liaozhai/shared/ui';
import type { AgendaView, ApiFailure, ChannelView, Comparison, Health, LogEntry, Sharing } from './api';
import type { NamedPackage } from './labels';
import { texts } from './texts';

/** State of the page without the health figures, as last loaded. */
export interface Snapshot {
  status: ChannelView;
  log: LogEntry[];
  names: NamedPackage[];
  /** Null for a set with a damaged build. After a failure the next refresh requests it again. */
  sharing: Sharing | ApiFailure | null;
  /** Names without an earlier build, '' for the whole set, if the log does not show it. */
  deadEnds: readonly string[];
  /** When it was loaded, by this device's clock. */
  at: Date;
  /** Offset of the console's clock from this device's, in ms. */
  clockOffsetMs: number;
}

/** State that a decision is based on. Stored before the dialog opens, because the page is refreshed behind it. */
export interface Basis {
  channel: string;
  seq: number;
}

export interface QuestionOptions {
  title: string;
  /** Label of the confirm button. */
  action: string;
  /** Effects of the change, one line each. */
  changes: readonly string[];
  danger?: boolean;
  /** Text to type before confirming a change that cannot be undone. */
  confirmationText?: string;
  /** Requires a reason, because everyone whom the change refuses reads it. */
  requiresReason?: boolean;
  /** A way back, although its verb may also go forward. */
  isWayBack?: boolean;
  /** A change that can be undone, offered first. */
  gentler?: Cure;
}

/** An action that resolves a refusal. */
export interface Cure {
  label: string;
  choose: () => void;
}

/** Result of a request, with a text to copy and actions that resolve a refusal. */
export interface Notice {
  title: string;
  lines: readonly string[];
  copy?: string;
  cures?: readonly Cure[];
}

/** A change that waits for confirmation. */
export interface Question extends QuestionOptions {
  verb: string;
  body: object;
  basis: Basis;
  /** Confirmed; the request is under way. */
  busy: boolean;
  /** Set if the channel is frozen and the change goes forward. */
  frozen: AgendaView['frozen'];
  /** Requires approval: the change becomes a proposal. */
  needsApproval: boolean;
  /** Reason typed for the same question, which was not confirmed or whose request failed; else empty. */
  typedReason: string;
}

/** Verbs that a freeze window refuses. */
export const FORWARD_VERBS: readonly string[] = ['activate', 'canary', 'promote', 'schedule'];

export const PROPOSAL_VERBS: readonly string[] = ['approve', 'reject', 'retract'];

/** Verbs that decide on what their dialog names, or hold back. They are right in any state, so other log entries do not matter. */
export const STATELESS_VERBS: readonly string[] = [
  ...PROPOSAL_VERBS,
  ...['pause', 'cancel', 'freeze', 'unfreeze', 'webhook-remove', 'preview-end'],
];

export interface ConsoleState {
  channel: string;
  /** Null until the channel is loaded. */
  snapshot: Snapshot | null;
  health: Health | null;
  /** Time of the last refresh; relative times are computed from it. */
  now: Date;
  /** Why the last refresh failed; the shown state may be outdated. */
  refreshFailure: ApiFailure | null;
  /** The token or the session is no longer valid. */
  isExpired: boolean;
  /** A request is under way; no other one starts meanwhile. */
  isRunning: boolean;
  question: Question | null;
  /** Two builds of one name to compare; `found` is null if nothing differs. */
  comparison: { name: string; from: string; to: string; result: Comparison | null } | null;
  /** Result of a request, shown until the manager closes it; later ones wait. */
  notice: Notice | null;
  toast: ShownToast | null;
}

const TOAST_MS = 6000;
/** Time between two notices, in which a double tap on the first closes nothing. */
const NEXT_NOTICE_MS = 500;

/** State of the signed-in page, and the one request that the user waits for. */
export function createConsoleStore(channel: string, refusalOf: (cause: unknown) => Notice) {
  let state: ConsoleState = {
    channel,
    snapshot: null,
    health: null,
    now: new Date(),
    refreshFailure: null,
    isExpired: false,
    isRunning: false,
    question: null,
    comparison: null,
    notice: null,
    toast: null,
  };
  const listeners = new Set<() => void>();
  const waitingNotices: Notice[] = [];
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

  /** Shows a notice after those that were not closed yet: one may hold a secret that cannot be read later. */
  function showNotice(notice: Notice): void {
    if (state.notice) waitingNotices.push(notice);
    else set({ notice });
  }

  function closeNotice(): void {
    set({ notice: null });
    const next = waitingNotices.shift();
    if (next) setTimeout(() => showNotice(next), NEXT_NOTICE_MS);
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
    showNotice,
    closeNotice,

    /** The shown state, on which a decision is based. */
    currentBasis: () => ({ channel: state.channel, seq: state.snapshot?.status.seq ?? 0 }),

    /**
     * Runs one request at a time, with a toast meanwhile. A failure opens a notice, which has the action's title if the manager has
     * left it. Returns whether the work succeeded.
     */
    async run(work: () => Promise<void>, title?: string): Promise<boolean> {
      if (state.isRunning) return false;
      runCount += 1;
      const runNumber = runCount;
      set({ isRunning: true });
      showToast(texts.busy);
      try {
        await work();
        if (runNumber === runCount) hideToast(texts.busy);
        return true;
      } catch (cause) {
        const notice = refusalOf(cause);
        const isLeft = runNumber !== runCount || !state.isRunning;
        if (runNumber === runCount) hideToast();
        showNotice(isLeft && title ? { ...notice, title: `${title} · ${notice.title}` } : notice);
        return false;
      } finally {
        if (runNumber === runCount) set({ isRunning: false });
      }
    },
  };
}

export type ConsoleStore = ReturnType<typeof createConsoleStore>;
