import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { type Db, query } from '../db/database.ts';
import { loadOrCreate } from '../signatures.ts';
import type { ReportFault } from '../telemetry.ts';

/** Abort reason of a generation: its row was deleted, the server shuts down, or the reader cancelled it. */
export class GenerationStopped extends Error {
  constructor(readonly reason: 'deleted' | 'shutdown' | 'cancelled') {
    super(`stopped: ${reason}`);
  }
}

/** The running generations, by the id of the row that each fills. */
export class Generations {
  readonly #running = new Map<string, { controller: AbortController; done: Promise<void> }>();
  /** Whether the server is shutting down: generations may finish, but no new ones may start. */
  isDraining = false;

  constructor(private readonly report: ReportFault) {}

  get size(): number {
    return this.#running.size;
  }

  has(id: string): boolean {
    return this.#running.has(id);
  }

  /** Runs `work` in the background. It must end its own row, so an error here is a defect and is only reported. */
  start(id: string, work: (signal: AbortSignal) => Promise<void>): void {
    const controller = new AbortController();
    const done = work(controller.signal)
      .catch((error: unknown) => this.report(error, { run: id }))
      .finally(() => {
        if (this.#running.get(id)?.controller === controller) this.#running.delete(id);
      });
    this.#running.set(id, { controller, done });
  }

  stop(id: string): void {
    this.#running.get(id)?.controller.abort(new GenerationStopped('deleted'));
    this.#running.delete(id);
  }

  /** Cancels a generation. Resolves when it has stored its text so far, or immediately if it is not running. */
  async cancel(id: string): Promise<void> {
    const generation = this.#running.get(id);
    generation?.controller.abort(new GenerationStopped('cancelled'));
    await generation?.done;
  }

  /** Waits until nothing runs. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  /** Waits up to `ms` for the generations to finish, then stops the rest. Resolves when each row has ended. */
  async drain(ms: number): Promise<void> {
    this.isDraining = true;
    const timeout = new AbortController();
    await Promise.race([this.settled(), sleep(ms, undefined, { signal: timeout.signal }).catch(() => {})]);
    timeout.abort();
    for (const generation of this.#running.values()) generation.controller.abort(new GenerationStopped('shutdown'));
    await this.settled();
  }
}

/** Time after its last heartbeat at which a backend counts as dead: three beats and a restart of Postgres fit in. */
const ALIVE_FOR_MS = 20_000;

/**
 * The backends that share a Postgres, by their heartbeats. A reply belongs to the backend that writes it while that is
 * alive. Their clocks may differ by seconds. A SQLite file has one backend, whose id is null.
 */
export class Roster {
  /** @param id stable across restarts on the same data folder, so that a backend finds the replies it left unfinished */
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    readonly id: string | null,
  ) {}

  /** Announces that this backend is alive for `ALIVE_FOR_MS`. */
  beat(): void {
    this.#write(this.clock() + ALIVE_FOR_MS);
  }

  /** Announces that this backend has stopped. */
  leave(): void {
    this.#write(0);
  }

  /** Returns the ids of the other backends that are alive. */
  others(): Set<string> {
    if (this.id === null) return new Set();
    const otherBackends = query.selectFrom('backends').select('id').where('id', '!=', this.id);
    return new Set(this.db.all(otherBackends.where('alive_until', '>', this.clock())).map(({ id }) => id));
  }

  #write(alive_until: number): void {
    if (this.id !== null) this.db.upsert('backends', { id: this.id }, { alive_until });
  }
}

/** Returns the backend id of a data folder, created at its first start. */
export const loadBackendId = (dataDir: string): string => loadOrCreate(join(dataDir, 'backend.id'), randomUUID);
