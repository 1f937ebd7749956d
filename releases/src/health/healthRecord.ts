import { randomUUID } from 'node:crypto';
import {
  type Beacon,
  beaconSchema,
  type ErrorReport,
  errorsReportSchema,
  HOUR_MS,
  instantSchema,
  textSchema,
  type VitalsReport,
} from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { assertReserve, limitsFrom } from '../builds/publish.ts';
import { SourceMaps } from '../builds/sourceMaps.ts';
import { timeOf } from '../channel/writer.ts';
import { parseOrNull } from '../model/documents.ts';
import { sha256Hex } from '../model/signing.ts';
import { inParallel, type Store } from '../store/store.ts';
import { type VitalsMinute, VitalsTally, vitalsLineSchema } from './vitals.ts';

const reported = {
  at: instantSchema,
  /** A hash, so that the record distinguishes visitors without identifying them. */
  visitor: textSchema(32),
};
const healthEventSchema = v.object({ ...beaconSchema.entries, ...reported });
const errorEventSchema = v.object({
  ...errorsReportSchema.entries.failed.pipe[0].item.entries,
  ...reported,
  /** `Safari 17` */
  browser: textSchema(60),
});

export type HealthEvent = v.InferOutput<typeof healthEventSchema>;
export type ErrorEvent = v.InferOutput<typeof errorEventSchema>;

/** Source of an error: a visitor's id, hashed before it is stored, and the browser's family with its major version. */
export interface Reporter {
  visitor: string;
  browser: string;
}

const FLUSH_MS = 2000;
const EVENTS_PER_FLUSH = 2000;
const ERRORS_PER_FLUSH = 500;
const KEPT_HOURS = 72;

/** `health/<channel>/<hour>/`, which contains the events of one hour in small immutable files. */
const healthFolder = (channel: string, at: Date): string => `health/${channel}/${at.toISOString().slice(0, 13)}/`;

/**
 * Collects beacons and writes them every two seconds. Further events after 2,000 per write are dropped regardless of outcome, so that
 * rates stay correct. Vitals are summed before they are written, and hours older than three days are removed. Where this machine's
 * clock is wrong, reports are dated by the store's. Writes nothing if only the reserve of the disk is left.
 */
export class HealthRecorder {
  readonly #store: Store;
  readonly #channel: string;
  readonly #onProblem: (cause: unknown) => void;
  readonly #reserve = limitsFrom().reserve;
  #events: HealthEvent[] = [];
  #errors: ErrorEvent[] = [];
  #vitals = new VitalsTally();
  #timer: NodeJS.Timeout | undefined;
  #cleanedHour = '';

  constructor(store: Store, channel: string, onProblem: (cause: unknown) => void) {
    this.#store = store;
    this.#channel = channel;
    this.#onProblem = onProblem;
  }

  record(beacon: Beacon, visitor: string, at = new Date()): void {
    if (this.#events.length >= EVENTS_PER_FLUSH) return;
    this.#events.push({ ...beacon, at: at.toISOString(), visitor: this.#hashed(visitor) });
    this.#plan();
  }

  recordError(report: ErrorReport, { visitor, browser }: Reporter): void {
    if (this.#errors.length >= ERRORS_PER_FLUSH) return;
    this.#errors.push({ ...report, at: new Date().toISOString(), visitor: this.#hashed(visitor), browser });
    this.#plan();
  }

  #hashed(visitor: string): string {
    return sha256Hex(`${this.#channel}:${visitor}`).slice(0, 16);
  }

  recordVitals(report: VitalsReport, at = new Date()): void {
    this.#vitals.report(report, at);
    this.#plan();
  }

  #plan(): void {
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Writes pending events. If the store fails, reports the problem and drops the events. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = [...this.#events, ...this.#errors, ...this.#vitals.lines()];
    this.#events = [];
    this.#errors = [];
    this.#vitals = new VitalsTally();
    if (lines.length === 0) return;
    const ownTime = new Date();
    try {
      const now = await timeOf({ store: this.#store, now: () => ownTime });
      const aheadMs = ownTime.getTime() - now.getTime();
      const dated = lines.map((line) => ({ ...line, at: new Date(Date.parse(line.at) - aheadMs).toISOString() }));
      const key = `${healthFolder(this.#channel, now)}${now.getTime()}-${randomUUID().slice(0, 8)}.ndjson`;
      await assertReserve(this.#store, 0, this.#reserve);
      await this.#store.create(key, `${dated.map((line) => JSON.stringify(line)).join('\n')}\n`);
      await this.#removeOld(now);
    } catch (cause) {
      this.#onProblem(cause);
    }
  }

  async #removeOld(now: Date): Promise<void> {
    const hour = now.toISOString().slice(0, 13);
    if (this.#cleanedHour === hour) return;
    this.#cleanedHour = hour;
    const oldest = healthFolder(this.#channel, new Date(now.getTime() - KEPT_HOURS * HOUR_MS));
    for (const folder of await this.#store.children(`health/${this.#channel}/`)) {
      const prefix = `health/${this.#channel}/${folder}`;
      if (prefix < oldest) for (const key of await this.#store.list(prefix)) await this.#store.remove(key);
    }
  }
}

const KEPT_EVENTS = 200_000;
const KEPT_ERRORS_OF_HOUR = 20_000;
const PARALLEL_READS = 16;
const WINDOW_MS = 24 * HOUR_MS;
/** Time after the end of an hour until its files are complete. Servers write events within seconds. */
const LATEST_WRITE_MS = 5 * 60_000;

/** Cached contents of one hour's folder. */
interface Hour {
  read: Set<string>;
  events: HealthEvent[];
  errors: ErrorEvent[];
  vitals: VitalsTally;
  /** Read completely after its end, so it need not be listed again. */
  finished: boolean;
}

const newHour = (): Hour => ({ read: new Set(), events: [], errors: [], vitals: new VitalsTally(), finished: false });

/** A line of a file; one that is truncated or unknown is skipped, so that others still count. */
const lineSchema = v.union([healthEventSchema, errorEventSchema, vitalsLineSchema]);

/** Recorded health of a channel: events oldest first, errors, and vitals summed by minute and build. */
export interface HealthRecord {
  events: readonly HealthEvent[];
  errors: readonly ErrorEvent[];
  vitals: readonly VitalsMinute[];
}

/** Reads the files of `HealthRecorder`, each only once, because they are immutable. */
export class HealthReader {
  readonly maps: SourceMaps;
  readonly #store: Pick<Store, 'read' | 'list' | 'children'>;
  readonly #root: string;
  readonly #hours = new Map<string, Hour>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Pick<Store, 'read' | 'list' | 'children'>, channel: string) {
    this.maps = new SourceMaps(store);
    this.#store = store;
    this.#root = `health/${channel}/`;
  }

  /** Reads reports since an instant, oldest first: at most the last day and the newest 200,000 events. */
  record(since: string, now = new Date()): Promise<HealthRecord> {
    const readHours = () => this.#readHours(since, now);
    const record = this.#turn.then(readHours, readHours);
    this.#turn = record;
    return record;
  }

  async #readHours(since: string, now: Date): Promise<HealthRecord> {
    const oldest = new Date(now.getTime() - WINDOW_MS).toISOString();
    const from = since > oldest ? since : oldest;
    const folders = (await this.#store.children(this.#root)).filter((folder) => folder >= from.slice(0, 13));
    const hours: Hour[] = [];
    let count = 0;
    const neededFolders = new Set<string>();
    for (const folder of folders.reverse()) {
      if (count >= KEPT_EVENTS) break;
      neededFolders.add(folder);
      const hour = await this.#hour(folder, now);
      hours.unshift(hour);
      count += hour.events.length;
    }
    for (const folder of this.#hours.keys()) if (!neededFolders.has(folder)) this.#hours.delete(folder);
    const events = hours.flatMap((hour) => hour.events).filter(({ at }) => at >= from);
    const errors = hours.flatMap((hour) => hour.errors).filter(({ at }) => at >= from);
    const vitals = hours.flatMap((hour) => hour.vitals.minutes);
    return { events: events.slice(-KEPT_EVENTS), errors, vitals };
  }

  async #hour(folder: string, now: Date): Promise<Hour> {
    const endsAt = Date.parse(`${folder.slice(0, 13)}:00:00Z`) + HOUR_MS;
    const isOver = now.getTime() > endsAt + LATEST_WRITE_MS;
    const cached = this.#hours.get(folder);
    if (cached?.finished && isOver) return cached;
    // after the clock was set back, a finished hour grows again
    const hour = cached && !cached.finished ? cached : newHour();
    this.#hours.set(folder, hour);
    const keys = await this.#store.list(this.#root + folder);
    const unreadKeys = keys.filter((key) => !hour.read.has(key));
    // throws after the last read, so that a slow one is not counted twice
    await inParallel(PARALLEL_READS, unreadKeys, (key) => this.#readFile(key, hour));
    if (isOver) {
      hour.finished = true;
      hour.read.clear();
    }
    return hour;
  }

  /** Marks a file as read only after reading it, so that a failure of the store loses no events. */
  async #readFile(key: string, hour: Hour): Promise<void> {
    const lines = (await this.#store.read(key))?.toString('utf8').split('\n').filter(Boolean) ?? [];
    hour.read.add(key);
    for (const line of lines) {
      const output = parseOrNull(lineSchema, line);
      if (!output) continue;
      if ('outcome' in output) hour.events.push(output);
      else if ('metric' in output) hour.vitals.addLine(output);
      else if (hour.errors.length < KEPT_ERRORS_OF_HOUR) hour.errors.push(output);
    }
    if (hour.events.length > 2 * KEPT_EVENTS) hour.events = hour.events.slice(-KEPT_EVENTS);
  }
}
