import type { Failure } from '../../src/answers';
import {
  ApiFailure,
  type ChannelView,
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
import type { Basis, ConsoleStore, Snapshot } from './consoleStore';
import { labels, type NamedPackage } from './labels';
import { texts } from './texts';

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
