import { setTimeout as wait } from 'node:timers/promises';
import {
  type Compilable,
  DummyDriver,
  type Insertable,
  Kysely,
  type Selectable,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
  type Updateable,
  type UpdateObject,
} from 'kysely';
import type { Schema } from './schema.ts';
import { storageFaultOf } from './storageFault.ts';

/** Builds typed statements, which run through `Db`. Postgres compiles them with its own compiler. */
export const query = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

type Row<Table extends keyof Schema> = Selectable<Schema[Table]>;

export interface TableColumn {
  table: string;
  name: string;
  /** SQL expression; null without a default */
  default: string | null;
}

/**
 * The database port. It is synchronous, so that no other code of this process runs within a transaction. Writers of
 * other processes wait for its end.
 */
export abstract class Db {
  #effects: (() => void)[] | null = null;

  constructor(private readonly onEffectError: (error: unknown) => void) {}

  abstract all<Row>(statement: Compilable<Row>): Row[];
  /** Runs a statement and returns the number of changed rows. */
  abstract run(statement: Compilable<unknown>): number;
  /** Waits, without blocking, until no other process blocks a transaction. Rejects with the fault after 3 s. */
  abstract writable(): Promise<void>;
  abstract columns(): TableColumn[];
  abstract close(): void;
  /** Begins a write transaction. Other writers wait for its end. */
  protected abstract begin(): void;
  protected abstract commit(): void;
  protected abstract rollBack(): void;

  protected get isTransacting(): boolean {
    return this.#effects !== null;
  }

  first<Row>(statement: Compilable<Row>): Row | undefined {
    return this.all(statement)[0];
  }

  /** Returns a row of a table with these values. */
  find<Table extends keyof Schema>(table: Table, values: Partial<Row<Table>>): Row<Table> | undefined {
    const statement = sql<Row<Table>>`select * from ${sql.table(table)} where ${matching(values)} limit 1`;
    return this.first({ compile: () => statement.compile(query) });
  }

  insert<Table extends keyof Schema>(table: Table, row: Insertable<Schema[Table]>): void {
    this.run(insertInto(table, row));
  }

  /** Inserts a row, or sets these values in the row with its key. */
  upsert<Table extends keyof Schema>(table: Table, key: Partial<Row<Table>>, values: Updateable<Schema[Table]>): void {
    const columns = Object.keys(key) as (keyof Row<'users'>)[];
    const changes = values as UpdateObject<Schema, 'users'>;
    this.run(
      insertInto(table, { ...key, ...values }).onConflict((conflict) => conflict.columns(columns).doUpdateSet(changes)),
    );
  }

  /** Changes the rows with these values. Returns their number. */
  update<Table extends keyof Schema>(
    table: Table,
    values: Partial<Row<Table>>,
    changes: Updateable<Schema[Table]>,
  ): number {
    const update = query.updateTable(table as 'users').set(changes as UpdateObject<Schema, 'users'>);
    return this.run(update.where(matching(values)));
  }

  /** Runs `work` in a transaction. A nested transaction joins the outer one. */
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

  /** Runs after the surrounding transaction is committed, or immediately without one. Dropped on rollback. */
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

  /** Runs an effect and reports its failure: the data is committed, so the request must not fail. */
  protected perform(effect: () => void): void {
    try {
      effect();
    } catch (error) {
      this.onEffectError(error);
    }
  }
}

/** The query builder does not follow a generic table, so this one stands for all. */
const insertInto = (table: keyof Schema, row: object) =>
  query.insertInto(table as 'users').values(row as Insertable<Schema['users']>);

/** Builds the condition that the columns have these values. */
function matching(values: object) {
  const conditions = Object.entries(values).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

/** Retries `work` while the database is busy or away. The defaults are for background work. */
export async function retryUntilAvailable(
  work: () => void,
  { signal, everyMs = 250, forMs = 20_000 }: { signal?: AbortSignal; everyMs?: number; forMs?: number },
): Promise<void> {
  const deadline = performance.now() + forMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      const isTemporary = ['busy', 'away'].includes(storageFaultOf(error) ?? '');
      if (!isTemporary || signal?.aborted || performance.now() > deadline) throw error;
    }
    await wait(everyMs);
  }
}

/** Throws `TypeError` for other types, since libsql aborts the process on a boolean. It also cuts text at a NUL. */
export function bindable(value: unknown): string | number | null {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  throw new TypeError(`cannot bind a ${typeof value}`);
}
