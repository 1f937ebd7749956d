import { ApiFailure, get } from './api';
import type { ChannelDocument, Health, LogEntry, Seen } from './model';

const LOG_LENGTH = 60;

export interface LookingContext {
  channel: () => string;
  show: (seen: Seen) => void;
  /** Null = the channel's figures are not known yet. */
  showHealth: (health: Health | null) => void;
  failed: (failure: ApiFailure) => void;
}

export interface Looking {
  /** What the page shows now; what is decided is tied to it. */
  status: () => ChannelDocument | null;
  refresh: () => Promise<void>;
}

const onlyFailures = (cause: unknown): ApiFailure => {
  if (cause instanceof ApiFailure) return cause;
  throw cause;
};

async function look(channel: string, former: Seen | null): Promise<Seen> {
  const query = `channel=${encodeURIComponent(channel)}`;
  const [status, names] = await Promise.all([get<ChannelDocument>(`status?${query}`), get<string[]>('names')]);
  const isSame = former?.status.channel === status.channel && former.status.seq === status.seq;
  const log = isSame ? former.log : await get<LogEntry[]>(`log?limit=${LOG_LENGTH}&${query}`);
  return { status, log, names };
}

/** Keeps what is shown in step with the server. Answers about a channel that was left, or older than what is shown, are dropped. */
export function createLooking({ channel, show, showHealth, failed }: LookingContext): Looking {
  let seen: Seen | null = null;
  let asked = 0;
  let shown = 0;
  const adding = new Set<string>();

  /** Figures may take long after a start, so the state never waits for them, and they are asked for once at a time. */
  async function refreshHealth(of: string): Promise<void> {
    if (adding.has(of)) return;
    adding.add(of);
    const health = await get<Health>(`health?channel=${encodeURIComponent(of)}`).catch(onlyFailures);
    adding.delete(of);
    if (of === channel() && !(health instanceof ApiFailure)) showHealth(health);
  }

  async function refresh(): Promise<void> {
    const of = channel();
    asked += 1;
    const turn = asked;
    if (seen?.status.channel !== of) showHealth(null);
    void refreshHealth(of);
    const answer = await look(of, seen).catch(onlyFailures);
    if (of !== channel() || turn < shown) return;
    shown = turn;
    if (answer instanceof ApiFailure) return failed(answer);
    seen = answer;
    show(seen);
  }

  return { status: () => seen?.status ?? null, refresh };
}
