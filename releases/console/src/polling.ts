import type { Failure } from '../../src/answers';
import {
  ApiFailure,
  type ChannelView,
  failed,
  failureOf,
  get,
  type Health,
  type LogEntry,
  nameOf,
  type Preview,
  pathOf,
  type Sharing,
} from './api';
import type { Decided, SeenState } from './consoleState';
import type { ConsoleStore } from './consoleStore';
import { labels, type NamedPackage } from './labels';
import { texts } from './texts';

const LOG_LENGTH = 60;
const PREVIEWS_MS = 30_000;

type Before = { seq: number } | { refused: Failure };

const askBefore = (decided: Decided, name?: string) =>
  get<Before>(`${pathOf('before', decided)}${name ? `&name=${encodeURIComponent(name)}` : ''}`);

/** Returns the state that a way back leads to, of a name or of the whole set. Throws `ApiFailure` if there is no such state. */
export async function stateBefore(decided: Decided, name?: string): Promise<number> {
  const answer = await askBefore(decided, name);
  if ('seq' in answer) return answer.seq;
  const { refused } = answer;
  throw refused.reason
    ? failed(422, refused)
    : new ApiFailure(422, [texts.live.nothingBefore(name && labels.of(name))]);
}

/** Returns null for a set with a damaged build, and a failure of the request as a value: it must not hide the state. */
async function loadSharing(query: string): Promise<SeenState['sharing']> {
  const answer = await get<Sharing>(`sharing?${query}`).catch(failureOf);
  return answer instanceof ApiFailure && answer.status === 422 ? null : answer;
}

async function look(channel: string, former: SeenState | null): Promise<SeenState> {
  const query = `channel=${encodeURIComponent(channel)}`;
  const asked = Date.now();
  const [status, names] = await Promise.all([
    get<ChannelView>(`status?${query}`),
    get<NamedPackage[]>(`names?${query}`),
  ]);
  const isSame = former?.status.channel === status.channel && former.status.seq === status.seq;
  labels.set(names);
  const log = isSame ? former.log : await get<LogEntry[]>(`log?limit=${LOG_LENGTH}&${query}`);
  const loaded = isSame && !(former.sharing instanceof ApiFailure) && former.sharing;
  const sharing = loaded || (await loadSharing(query));
  const deadEnds = isSame ? former.deadEnds : await findDeadEnds(status, log);
  const ahead = status.now ? Date.parse(status.now) - asked : 0;
  return { status, log, names, sharing, deadEnds, at: new Date(), ahead };
}

/**
 * Returns names without an earlier build; '' is the whole set. Asks the server, once per state, where no fallback proves an
 * earlier build and the log is incomplete or a build was killed.
 */
async function findDeadEnds({ lastGood, killed, ...status }: ChannelView, log: readonly LogEntry[]): Promise<string[]> {
  const names = (status.stable?.builds ?? []).map(nameOf);
  const isWhole = log.at(-1)?.seq === 1;
  const isDoubtful = (name: string) => !isWhole || killed.some((id) => name === '' || nameOf(id) === name);
  const isProven = (name: string) => (name ? [name] : names).some((each) => lastGood[each]);
  const doubtful = ['', ...names].filter((name) => isDoubtful(name) && !isProven(name));
  const answers = await Promise.all(doubtful.map((name) => askBefore(status, name).catch(failureOf)));
  return doubtful.filter((_, at) => {
    const answer = answers[at];
    return answer && 'refused' in answer && !answer.refused.reason;
  });
}

/** Polls the server for the page's data. */
export function createPolling({ state, set }: ConsoleStore) {
  const healthAsked = new Set<string>();
  let previewsAsked = 0;
  let requests = 0;
  let shown = 0;

  /** Health may take long after a start, so the state does not wait for it. One request per channel at a time. */
  async function refreshHealth(of: string): Promise<void> {
    if (healthAsked.has(of)) return;
    healthAsked.add(of);
    const health = await get<Health>(`health?channel=${encodeURIComponent(of)}`).catch(failureOf);
    healthAsked.delete(of);
    if (of === state().channel && !(health instanceof ApiFailure)) set({ health });
  }

  /** Previews expire, so they are fetched periodically as well as after a change. */
  async function refreshPreviews(of: string): Promise<void> {
    if (Date.now() - previewsAsked < PREVIEWS_MS) return;
    previewsAsked = Date.now();
    const previews = await get<Preview[]>(`previews?channel=${encodeURIComponent(of)}`).catch(failureOf);
    if (of === state().channel && !(previews instanceof ApiFailure)) set({ previews });
  }

  /** Fetches the current state. Drops responses about a former channel, and those older than what is shown. */
  async function refresh(): Promise<void> {
    const of = state().channel;
    requests += 1;
    const turn = requests;
    void refreshHealth(of);
    const answer = await look(of, state().seen).catch(failureOf);
    if (of !== state().channel || turn < shown) return;
    shown = turn;
    const { ahead = 0 } = (answer instanceof ApiFailure ? state().seen : answer) ?? {};
    const now = new Date(Date.now() + ahead);
    if (!(answer instanceof ApiFailure)) set({ seen: answer, stale: null, now });
    else if (answer.status === 401) set({ refused: true });
    else set({ stale: answer, now });
    void refreshPreviews(of);
  }

  return {
    refresh,
    /** Makes the next refresh fetch the previews. */
    previewsChanged: () => {
      previewsAsked = 0;
    },
  };
}

export type Polling = ReturnType<typeof createPolling>;
