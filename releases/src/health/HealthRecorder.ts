import { randomUUID } from 'node:crypto';
import { sha256Hex } from '../model/hashing.ts';
import type { Store } from '../store/store.ts';
import type { Beacon, HealthEvent } from './healthEvent.ts';

const FLUSH_MILLISECONDS = 2000;
const EVENTS_PER_FLUSH = 2000;
const KEPT_HOURS = 72;
const HOUR = 3_600_000;

/** `health/<channel>/<hour>/`, where the events of one hour lie in small immutable files. */
export const healthFolder = (channel: string, at: Date): string =>
  `health/${channel}/${at.toISOString().slice(0, 13)}/`;

/**
 * Collects beacons and writes them every two seconds. Bounded: what exceeds 2,000 events per write is dropped (both outcomes
 * alike, so rates stay true) and hours older than three days are removed.
 */
export class HealthRecorder {
  readonly #store: Store;
  readonly #channel: string;
  readonly #onProblem: (cause: unknown) => void;
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
