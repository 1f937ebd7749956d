import { setTimeout as wait } from 'node:timers/promises';
import { type Compilable, DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { Schema } from './schema.ts';
import { storageFaultOf } from './storageFault.ts';

/** Builds typed statements; they run through `Db`, and Postgres gets its own compilation. */
export const query = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/**
 * The database as the server uses it: synchronous, so nothing of this process can step between two statements of a transaction. Of
 * others nothing can either that writes: they wait for its end.
 */
export interface Db {
  all<Row>(statement: Compilable<Row>): Row[];
  first<Row>(statement: Compilable<Row>): Row | undefined;
  /** Runs a statement and tells how many rows it changed. */
  run(statement: Compilable<unknown>): number;
  /** Resolves when no other program keeps a transaction from beginning; the process goes on meanwhile. Rejects after `patienceMs`. */
  writable(): Promise<void>;
  /** Everything or nothing; a transaction inside another joins it. */
  transaction<Result>(work: () => Result): Result;
  /** Runs after the surrounding transaction is on disk, or immediately outside a transaction; dropped on rollback. */
  afterCommit(effect: () => void): void;
  /** Every column of every table. */
  columns(): TableColumn[];
  close(): void;
}

/** The longest time that a call waits for its database. */
export const PATIENCE_MS = 1_000;

export interface TableColumn {
  table: string;
  name: string;
  /** as SQL; null without a default */
  default: string | null;
}

/** A transaction, independent of the database that runs it. */
export abstract class TransactingDb implements Db {
  readonly #onEffectError: (error: unknown) => void;
  #effects: (() => void)[] | null = null;

  constructor(onEffectError: (error: unknown) => void) {
    this.#onEffectError = onEffectError;
  }

  abstract all<Row>(statement: Compilable<Row>): Row[];
  abstract run(statement: Compilable<unknown>): number;
  abstract writable(): Promise<void>;
  abstract columns(): TableColumn[];
  abstract close(): void;
  /** Begins a transaction that may write; other writers wait for its end. */
  protected abstract begin(): void;
  protected abstract commit(): void;
  protected abstract rollBack(): void;

  protected get isTransacting(): boolean {
    return this.#effects !== null;
  }

  first<Row>(statement: Compilable<Row>): Row | undefined {
    return this.all(statement)[0];
  }

  transaction<Result>(work: () => Result): Result {
    if (this.#effects) return work();
    const effects: (() => void)[] = [];
    let result: Result;
    this.begin();
    this.#effects = effects;
    try {
      result = work();
      this.commit();
    } catch (error) {
      this.#rollBackQuietly();
      throw error;
    } finally {
      this.#effects = null;
    }
    for (const effect of effects) this.perform(effect);
    return result;
  }

  afterCommit(effect: () => void): void {
    if (this.#effects) this.#effects.push(effect);
    else effect();
  }

  #rollBackQuietly(): void {
    try {
      this.rollBack();
    } catch {
      // a full or broken disk, or a lost connection, has already ended the transaction
    }
  }

  /** What is on disk is done: an effect that fails may not turn it into an error answer. */
  protected perform(effect: () => void): void {
    try {
      effect();
    } catch (error) {
      this.#onEffectError(error);
    }
  }
}

interface Patience {
  signal?: AbortSignal;
  everyMs?: number;
  forMs?: number;
}

/** Repeats work while the database is busy or away; by default as long as work in the background may wait. */
export async function onceAvailable(
  work: () => void,
  { signal, everyMs = 250, forMs = 20_000 }: Patience,
): Promise<void> {
  const until = performance.now() + forMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      const isPassing = ['busy', 'away'].includes(storageFaultOf(error) ?? '');
      if (!isPassing || signal?.aborted || performance.now() > until) throw error;
    }
    await wait(everyMs);
  }
}

/** What a column may hold: libsql aborts the whole process on a boolean and cuts text at a NUL, so neither may reach it. */
export function bindable(value: unknown): string | number | null {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  throw new TypeError(`cannot bind a ${typeof value}`);
}
