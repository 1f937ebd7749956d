import { randomUUID } from 'node:crypto';
import { type Beacon, beaconSchema, instantSchema, textSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { assertReserve, limitsFrom } from '../builds/quota.ts';
import { sha256Hex } from '../model/signing.ts';
import type { Store } from '../store/store.ts';

const healthEventSchema = v.object({
  ...beaconSchema.entries,
  at: instantSchema,
  /** A hash, so that the record tells visitors apart and nothing more. */
  visitor: textSchema(32),
});

export type HealthEvent = v.InferOutput<typeof healthEventSchema>;

const FLUSH_MILLISECONDS = 2000;
const EVENTS_PER_FLUSH = 2000;
const KEPT_HOURS = 72;
const HOUR = 3_600_000;

/** `health/<channel>/<hour>/`, where the events of one hour lie in small immutable files. */
const healthFolder = (channel: string, at: Date): string => `health/${channel}/${at.toISOString().slice(0, 13)}/`;

/**
 * Collects beacons and writes them every two seconds. Bounded: what exceeds 2,000 events per write is dropped (both outcomes
 * alike, so rates stay true), hours older than three days are removed, and a disk that has only its reserve left gets no more.
 */
export class HealthRecorder {
  readonly #store: Store;
  readonly #channel: string;
  readonly #onProblem: (cause: unknown) => void;
  readonly #reserve = limitsFrom().reserve;
  #waiting: HealthEvent[] = [];
  #timer: NodeJS.Timeout | undefined;
  #cleanedHour = '';

  constructor(store: Store, channel: string, onProblem: (cause: unknown) => void) {
    this.#store = store;
    this.#channel = channel;
    this.#onProblem = onProblem;
  }

  record(beacon: Beacon, visitor: string, at = new Date()): void {
    if (this.#waiting.length >= EVENTS_PER_FLUSH) return;
    const hashed = sha256Hex(`${this.#channel}:${visitor}`).slice(0, 16);
    this.#waiting.push({ ...beacon, at: at.toISOString(), visitor: hashed });
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MILLISECONDS).unref();
  }

  /** Writes what waits; a store that fails is reported and the events are lost. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const events = this.#waiting;
    this.#waiting = [];
    if (events.length === 0) return;
    const now = new Date();
    const key = `${healthFolder(this.#channel, now)}${now.getTime()}-${randomUUID().slice(0, 8)}.ndjson`;
    try {
      await assertReserve(this.#store, 0, this.#reserve);
      await this.#store.create(key, `${events.map((event) => JSON.stringify(event)).join('\n')}\n`);
      await this.#removeOld(now);
    } catch (cause) {
      this.#onProblem(cause);
    }
  }

  async #removeOld(now: Date): Promise<void> {
    const hour = now.toISOString().slice(0, 13);
    if (this.#cleanedHour === hour) return;
    this.#cleanedHour = hour;
    const oldest = healthFolder(this.#channel, new Date(now.getTime() - KEPT_HOURS * HOUR));
    for (const folder of await this.#store.children(`health/${this.#channel}/`)) {
      const prefix = `health/${this.#channel}/${folder}`;
      if (prefix < oldest) for (const key of await this.#store.list(prefix)) await this.#store.remove(key);
    }
  }
}

const KEPT_EVENTS = 200_000;
const PARALLEL_READS = 16;
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
    const parsed = v.safeParse(healthEventSchema, JSON.parse(line));
    return parsed.success ? [parsed.output] : [];
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
    // all reads settle before the first failure is thrown, so that no late one is counted twice
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
