import type { Store } from '../store/store.ts';
import { type HealthEvent, healthEventSchema } from './healthEvent.ts';

const KEPT_EVENTS = 200_000;
const WINDOW_MILLISECONDS = 24 * 3_600_000;

/** Reads what HealthRecorder wrote; every file only once, since none ever changes. */
export class HealthReader {
  readonly #store: Store;
  readonly #channel: string;
  readonly #read = new Set<string>();
  #events: HealthEvent[] = [];

  constructor(store: Store, channel: string) {
    this.#store = store;
    this.#channel = channel;
  }

  /** The events of the last day, at most 200,000, oldest first. */
  async events(now = new Date()): Promise<readonly HealthEvent[]> {
    const oldest = new Date(now.getTime() - WINDOW_MILLISECONDS).toISOString();
    const root = `health/${this.#channel}/`;
    for (const hour of await this.#store.children(root)) {
      if (hour < oldest.slice(0, 13)) continue;
      for (const key of await this.#store.list(`${root}${hour}`)) await this.#take(key);
    }
    this.#events = this.#events.filter(({ at }) => at >= oldest).slice(-KEPT_EVENTS);
    return this.#events;
  }

  async #take(key: string): Promise<void> {
    if (this.#read.has(key)) return;
    this.#read.add(key);
    const lines = (await this.#store.read(key))?.toString('utf8').split('\n').filter(Boolean) ?? [];
    const parsed = lines.map((line) => healthEventSchema.safeParse(JSON.parse(line)));
    for (const { data } of parsed) if (data) this.#events.push(data);
  }
}
