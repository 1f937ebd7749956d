import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { type Db, query } from '../db/database.ts';
import type { ReportFault } from '../telemetry.ts';

/** A run was stopped: its row was deleted, the server shuts down, or the reader stopped it. */
export class RunStopped extends Error {
  readonly reason: 'deleted' | 'shutdown' | 'cancelled';

  constructor(reason: RunStopped['reason']) {
    super(`stopped: ${reason}`);
    this.reason = reason;
  }
}

interface Run {
  stop: AbortController;
  done: Promise<void>;
}

/** What is being written right now, by the id of the row it fills. */
export class Runs {
  readonly #running = new Map<string, Run>();
  readonly #report: ReportFault;
  #isDraining = false;

  constructor(report: ReportFault) {
    this.#report = report;
  }

  /** The server is about to end: what runs may finish, and nothing new is to begin. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** How many run. */
  get size(): number {
    return this.#running.size;
  }

  has(id: string): boolean {
    return this.#running.has(id);
  }

  /** Runs work in the background; it must settle its own row, so an error here is a defect and only logged. */
  start(id: string, work: (signal: AbortSignal) => Promise<void>): void {
    const stop = new AbortController();
    const done = work(stop.signal)
      .catch((error: unknown) => this.#report(error, { run: id }))
      .finally(() => {
        if (this.#running.get(id)?.stop === stop) this.#running.delete(id);
      });
    this.#running.set(id, { stop, done });
  }

  stop(id: string): void {
    this.#running.get(id)?.stop.abort(new RunStopped('deleted'));
    this.#running.delete(id);
  }

  /** Lets a run store what it has so far; resolves after that, or immediately if nothing runs. */
  async cancel(id: string): Promise<void> {
    const run = this.#running.get(id);
    run?.stop.abort(new RunStopped('cancelled'));
    await run?.done;
  }

  /** Waits until nothing runs. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map((run) => run.done));
  }

  /** Lets what runs finish within that time, then stops the rest; resolves when each row is settled. */
  async drain(ms: number): Promise<void> {
    this.#isDraining = true;
    const timer = new AbortController();
    await Promise.race([this.settled(), sleep(ms, undefined, { signal: timer.signal }).catch(() => {})]);
    timer.abort();
    for (const run of this.#running.values()) run.stop.abort(new RunStopped('shutdown'));
    await this.settled();
  }
}

/** A backend that has said nothing for so long writes nothing any more: three beats and a restart of Postgres fit in. */
const ALIVE_FOR_MS = 20_000;

/**
 * The backends that share a Postgres, by what each says of itself: a reply belongs to the one that writes it, for as long as that is
 * alive. Their clocks may differ by seconds. On a file there is one backend, which has no name.
 */
export class Roster {
  /** The same after a restart on the same data folder, which is how a backend knows the replies that it left behind. */
  readonly id: string | null;
  readonly #db: Db;
  readonly #clock: Clock;

  constructor(db: Db, clock: Clock, id: string | null) {
    this.#db = db;
    this.#clock = clock;
    this.id = id;
  }

  get isShared(): boolean {
    return this.id !== null;
  }

  /** Says that this backend is there, until `aliveForMs` from now. */
  beat(): void {
    this.#write(this.#clock() + ALIVE_FOR_MS);
  }

  /** Says that this backend writes nothing any more. */
  leave(): void {
    this.#write(0);
  }

  /** The other backends that are there. */
  others(): Set<string> {
    if (this.id === null) return new Set();
    const others = query.selectFrom('backends').select('id').where('id', '!=', this.id);
    return new Set(this.#db.all(others.where('alive_until', '>', this.#clock())).map(({ id }) => id));
  }

  #write(alive_until: number): void {
    if (this.id === null) return;
    const row = query.insertInto('backends').values({ id: this.id, alive_until });
    this.#db.run(row.onConflict((known) => known.column('id').doUpdateSet({ alive_until })));
  }
}

/** The name of the backend of a data folder, made at its first start. */
export function loadBackendId(dataDir: string): string {
  const path = join(dataDir, 'backend.id');
  if (!existsSync(path)) writeFileSync(path, randomUUID());
  return readFileSync(path, 'utf8').trim();
}
