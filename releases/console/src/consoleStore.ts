import type { ShownToast } from '@liaozhai/shared/ui';
import type { Failure } from '../../src/answers';
import {
  type AgendaView,
  ApiFailure,
  type ChannelView,
  type Comparison,
  failureOf,
  get,
  type Health,
  type LogEntry,
  mayGoBack,
  nameOf,
  pathOf,
  type Sharing,
  toApiFailure,
} from './api';
import { labels, type NamedPackage, texts } from './texts';

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
  /** The form that asks, whose draft the change forgets. */
  form?: string;
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

/** Verbs that decide on what their dialog names, or hold back. They are right in any state, so other log entries do not matter. */
export const STATELESS_VERBS: readonly string[] = [
  ...['approve', 'reject', 'retract', 'pause', 'cancel', 'freeze', 'unfreeze', 'webhook-remove', 'preview-end'],
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

const LOG_LENGTH = 60;

type PreviousState = { seq: number } | { refused: Failure };

const fetchStateBefore = (basis: Basis, name?: string) =>
  get<PreviousState>(`${pathOf('before', basis)}${name ? `&name=${encodeURIComponent(name)}` : ''}`);

/** Returns the state that a way back leads to, of a name or of the whole set. Throws `ApiFailure` if there is no such state. */
export async function stateBefore(basis: Basis, name?: string): Promise<number> {
  const answer = await fetchStateBefore(basis, name);
  if ('seq' in answer) return answer.seq;
  const { refused } = answer;
  throw refused.reason
    ? toApiFailure(422, refused)
    : new ApiFailure(422, [texts.live.nothingBefore(name && labels.of(name))]);
}

/** Returns null for a set with a damaged build, and a failure of the request as a value: it must not hide the state. */
async function loadSharing(query: string): Promise<Snapshot['sharing']> {
  const answer = await get<Sharing>(`sharing?${query}`).catch(failureOf);
  return answer instanceof ApiFailure && answer.status === 422 ? null : answer;
}

async function fetchSnapshot(channel: string, previous: Snapshot | null): Promise<Snapshot> {
  const query = `channel=${encodeURIComponent(channel)}`;
  const requestedAt = Date.now();
  const [status, names] = await Promise.all([
    get<ChannelView>(`status?${query}`),
    get<NamedPackage[]>(`names?${query}`),
  ]);
  const isSame = previous?.status.channel === status.channel && previous.status.seq === status.seq;
  labels.set(names);
  const log = isSame ? previous.log : await get<LogEntry[]>(`log?limit=${LOG_LENGTH}&${query}`);
  const loadedSharing = isSame && !(previous.sharing instanceof ApiFailure) && previous.sharing;
  const sharing = loadedSharing || (await loadSharing(query));
  const deadEnds = isSame ? previous.deadEnds : await findDeadEnds(status, log);
  const clockOffsetMs = status.now ? Date.parse(status.now) - requestedAt : 0;
  return { status, log, names, sharing, deadEnds, at: new Date(), clockOffsetMs };
}

/**
 * Returns names without an earlier build; '' is the whole set. Asks the server, once per state, where the log has earlier changes
 * and no fallback proves an earlier build.
 */
async function findDeadEnds(status: ChannelView, log: readonly LogEntry[]): Promise<string[]> {
  const { lastGood, killed } = status;
  const names = (status.stable?.builds ?? []).map(nameOf);
  const isProven = (name: string) =>
    name ? lastGood[name] : killed.length === 0 && names.some((each) => lastGood[each]);
  const doubtful = ['', ...names].filter((name) => !isProven(name) && mayGoBack({ status, log, deadEnds: [] }, name));
  const answers = await Promise.all(doubtful.map((name) => fetchStateBefore(status, name).catch(failureOf)));
  return doubtful.filter((_, at) => {
    const answer = answers[at];
    return answer && 'refused' in answer && !answer.refused.reason;
  });
}

/** Creates the function that fetches the page's data again. */
export function createPolling({ state, set }: ConsoleStore) {
  const pendingHealth = new Set<string>();
  let requestCount = 0;
  let shownRequest = 0;

  /** Health may take long after a start, so the state does not wait for it. One request per channel at a time. */
  async function refreshHealth(channel: string): Promise<void> {
    if (pendingHealth.has(channel)) return;
    pendingHealth.add(channel);
    const health = await get<Health>(pathOf('health', { channel }))
      .catch(failureOf)
      .finally(() => pendingHealth.delete(channel));
    if (channel === state().channel && !(health instanceof ApiFailure)) set({ health });
  }

  /** Fetches the current state. Drops responses about a former channel, and those older than what is shown. */
  async function refresh(): Promise<void> {
    const channel = state().channel;
    requestCount += 1;
    const requestNumber = requestCount;
    void refreshHealth(channel);
    const answer = await fetchSnapshot(channel, state().snapshot).catch(failureOf);
    if (channel !== state().channel || requestNumber < shownRequest) return;
    shownRequest = requestNumber;
    const { clockOffsetMs = 0 } = (answer instanceof ApiFailure ? state().snapshot : answer) ?? {};
    const now = new Date(Date.now() + clockOffsetMs);
    if (!(answer instanceof ApiFailure)) set({ snapshot: answer, refreshFailure: null, now });
    else if (answer.status === 401) set({ isExpired: true });
    else set({ refreshFailure: answer, now });
  }

  return refresh;
}
