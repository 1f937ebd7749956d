import type { Store } from '../store/store.ts';
import { type HealthEvent, healthEventSchema } from './healthEvent.ts';

const KEPT_EVENTS = 200_000;
const PARALLEL_READS = 16;
const HOUR = 3_600_000;
const WINDOW_MILLISECONDS = 24 * HOUR;
/** A server writes what it heard within seconds; then nothing more comes for an hour that is over. */
const LATEST_WRITE_MILLISECONDS = 5 * 60_000;

/** What is known of one hour's folder. */
interface Hour {
  read: Set<string>;
  events: HealthEvent[];
  /** Read whole after its end, so it need not be listed again. */
  finished: boolean;
}

/** A line that was cut off is no event; the lines beside it count. */
function eventIn(line: string): HealthEvent[] {
  try {
    const { data } = healthEventSchema.safeParse(JSON.parse(line));
    return data ? [data] : [];
  } catch (cause) {
    if (cause instanceof SyntaxError) return [];
    throw cause;
  }
}

/** Reads what HealthRecorder wrote; every file only once, since none ever changes. */
export class HealthReader {
  readonly #store: Pick<Store, 'read' | 'list' | 'children'>;
  readonly #root: string;
  readonly #hours = new Map<string, Hour>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Pick<Store, 'read' | 'list' | 'children'>, channel: string) {
    this.#store = store;
    this.#root = `health/${channel}/`;
  }

  /** The events since an instant, of the last day at most and the newest 200,000 at most, oldest first. */
  events(since: string, now = new Date()): Promise<readonly HealthEvent[]> {
    const look = () => this.#look(since, now);
    const events = this.#turn.then(look, look);
    this.#turn = events;
    return events;
  }

  async #look(since: string, now: Date): Promise<readonly HealthEvent[]> {
    const oldest = new Date(now.getTime() - WINDOW_MILLISECONDS).toISOString();
    const from = since > oldest ? since : oldest;
    const folders = (await this.#store.children(this.#root)).filter((folder) => folder >= from.slice(0, 13));
    const kept: HealthEvent[][] = [];
    let count = 0;
    const wanted = new Set<string>();
    for (const folder of folders.reverse()) {
      if (count >= KEPT_EVENTS) break;
      wanted.add(folder);
      const { events } = await this.#hour(folder, now);
      kept.unshift(events);
      count += events.length;
    }
    for (const folder of this.#hours.keys()) if (!wanted.has(folder)) this.#hours.delete(folder);
    return kept
      .flat()
      .filter(({ at }) => at >= from)
      .slice(-KEPT_EVENTS);
  }

  async #hour(folder: string, now: Date): Promise<Hour> {
    const hour = this.#hours.get(folder) ?? { read: new Set(), events: [], finished: false };
    this.#hours.set(folder, hour);
    if (hour.finished) return hour;
    const keys = await this.#store.list(this.#root + folder);
    const waiting = keys.filter((key) => !hour.read.has(key)).reverse();
    const work = async () => {
      for (let key = waiting.pop(); key; key = waiting.pop()) await this.#take(key, hour);
    };
    // all of them end before the first failure is told, so that no late one counts twice
    const ends = await Promise.allSettled(Array.from({ length: PARALLEL_READS }, work));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    const over = Date.parse(`${folder.slice(0, 13)}:00:00Z`) + HOUR;
    if (now.getTime() > over + LATEST_WRITE_MILLISECONDS) {
      hour.finished = true;
      hour.read.clear();
    }
    return hour;
  }

  /** Counts as read only when it was, so that a store that failed once loses nothing. */
  async #take(key: string, hour: Hour): Promise<void> {
    const lines = (await this.#store.read(key))?.toString('utf8').split('\n').filter(Boolean) ?? [];
    hour.read.add(key);
    for (const line of lines) hour.events.push(...eventIn(line));
    if (hour.events.length > 2 * KEPT_EVENTS) hour.events = hour.events.slice(-KEPT_EVENTS);
  }
}
