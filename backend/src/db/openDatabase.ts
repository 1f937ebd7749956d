import { mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Compilable, type Dialect, Kysely, SqliteDialect } from 'kysely';
import Libsql from 'libsql';
import { ConfigError, type Env } from '../env.ts';
import { bindable, Db, retryUntilAvailable, type TableColumn } from './database.ts';
import { migrateToLatest } from './migrations.ts';
import { DamagedFile, storageCure, storageFaultOf } from './storageFault.ts';

export const databaseFile = (dataDir: string): string => join(dataDir, 'liaozhai.db');

/** Creates a folder and its parents. Node's recursive `mkdir` never returns where a folder accepts no entries, as in /proc. */
function makeFolder(path: string): void {
  const isThere = () => statSync(path, { throwIfNoEntry: false })?.isDirectory();
  if (isThere()) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // another process may have created it
    if (!isThere()) throw error;
  }
}

/** Throws `ConfigError` for any failure: a read-only disk is ENOENT here, a file in its place EEXIST or ENOTDIR. */
function makeDataDir(dataDir: string): void {
  try {
    makeFolder(resolve(dataDir));
  } catch (error) {
    throw new ConfigError(storageCure(storageFaultOf(error) ?? 'unusable', dataDir, error));
  }
}

/**
 * Opens the Postgres of `DATABASE_URL`, or opens or creates the database file of the data directory, and migrates it.
 * @param onEffectError receives failures of effects after their transaction was committed.
 */
export async function openDatabase(
  { DATABASE_URL, DATA_DIR: dataDir }: Pick<Env, 'DATABASE_URL' | 'DATA_DIR'>,
  onEffectError: (error: unknown) => void,
): Promise<Db> {
  makeDataDir(dataDir);
  if (DATABASE_URL) {
    const { openPostgres } = await import('./postgres.ts');
    return openPostgres(DATABASE_URL, onEffectError);
  }
  const file = openFile(dataDir, databaseFile(dataDir), 5_000);
  try {
    // a migration that copies a table must not cascade to the rows that reference it
    file.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = off;');
    assertNotTruncated(file, databaseFile(dataDir));
    await migrateToLatest(new Kysely({ dialect: libsqlDialect(file) }), `DATA_DIR: ${databaseFile(dataDir)}`);
    file.exec('pragma foreign_keys = on');
  } catch (error) {
    file.close();
    throw error;
  }
  return new LibsqlDb(file, onEffectError);
}

function openFile(dataDir: string, file: string, timeout: number): Libsql.Database {
  try {
    return new Libsql(file, { timeout });
  } catch (error) {
    // libsql sets no error code here, and this is the only cause
    throw new ConfigError(storageCure('unusable', dataDir, error));
  }
}

/** Throws `DamagedFile` if the file is truncated, which SQLite reports only when it reads a page beyond the end. */
function assertNotTruncated(file: Libsql.Database, path: string): void {
  const logPages = checkpointedPages(file);
  if (logPages === undefined) return;
  const number = (pragma: string) => Number(Object.values((file.pragma(pragma) as object[])[0] ?? {})[0]);
  const bytes = number('page_count') * number('page_size');
  // another process may have written between these queries
  if (statSync(path).size >= bytes || checkpointedPages(file) !== logPages) return;
  const { size } = statSync(path);
  if (size < bytes) throw new DamagedFile(`${size} of ${bytes} bytes are left`);
}

/** Checkpoints the log into the file and returns its pages; undefined if another process kept some in the log. */
function checkpointedPages(file: Libsql.Database): number | undefined {
  const [state] = file.pragma('wal_checkpoint(passive)') as [{ busy: number; log: number; checkpointed: number }];
  return state.busy || state.log !== state.checkpointed ? undefined : state.log;
}

/** A statement that waits blocks the whole process. So calls await `writable` first, and only one statement waits. */
const BUSY_TIMEOUT_MS = 250;

/** Maximum time that a call waits for another process, such as a restore or an import, without blocking. */
const MAX_LOCKED_MS = 3_000;

class LibsqlDb extends Db {
  readonly #statements = new Map<string, Libsql.Statement<unknown[]>>();
  #isBusy: boolean | null = null;

  constructor(
    private readonly file: Libsql.Database,
    onEffectError: (error: unknown) => void,
  ) {
    super(onEffectError);
    this.#setBusy(false);
  }

  all<Row>(statement: Compilable<Row>): Row[] {
    const { sql, parameters } = statement.compile();
    return this.#trackBusy(() => this.#prepare(sql).all(parameters.map(bindable)) as Row[]);
  }

  run(statement: Compilable<unknown>): number {
    const { sql, parameters } = statement.compile();
    const changes = this.#trackBusy(() => this.#prepare(sql).run(parameters.map(bindable)).changes);
    this.#setBusy(false);
    return changes;
  }

  writable(): Promise<void> {
    // each call has its own deadline: a shared one would refuse a call that has just arrived
    return retryUntilAvailable(() => this.#tryToBegin(), { everyMs: 20, forMs: MAX_LOCKED_MS });
  }

  columns(): TableColumn[] {
    const columns = `select tables.name as "table", columns.name, columns.dflt_value as "default"
      from sqlite_master as tables, pragma_table_info(tables.name) as columns where tables.type = 'table'`;
    return this.#prepare(columns).all([]) as TableColumn[];
  }

  close(): void {
    this.#statements.clear();
    // so that the file alone is complete; if this fails, the next start reads the log
    this.perform(() => this.file.pragma('wal_checkpoint(truncate)'));
    this.file.close();
  }

  protected begin(): void {
    this.#trackBusy(() => this.file.exec('begin immediate'));
    this.#setBusy(false);
  }

  protected commit(): void {
    this.file.exec('commit');
  }

  protected rollBack(): void {
    this.file.exec('rollback');
  }

  #tryToBegin(): void {
    this.#setBusy(true);
    this.file.exec('begin immediate; rollback');
    this.#setBusy(false);
  }

  #trackBusy<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (storageFaultOf(error) === 'busy') this.#setBusy(true);
      throw error;
    }
  }

  /** Sets the busy timeout. A successful read does not reset it, since reads work while another process writes. */
  #setBusy(isBusy: boolean): void {
    if (this.#isBusy === isBusy) return;
    this.#isBusy = isBusy;
    this.file.exec(`pragma busy_timeout = ${isBusy ? 0 : BUSY_TIMEOUT_MS}`);
  }

  #prepare(sql: string): Libsql.Statement<unknown[]> {
    const cached = this.#statements.get(sql);
    if (cached) return cached;
    const statement = this.file.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** Kysely's dialect for the migrator. libsql offers the interface of better-sqlite3. */
const libsqlDialect = (file: Libsql.Database): Dialect =>
  new SqliteDialect({
    database: {
      // a read-only transaction that later writes would fail if another process has written meanwhile
      prepare: (sql) => file.prepare(sql === 'begin' ? 'begin immediate' : sql),
      close: () => file.close(),
    },
  });

/** Time that the former server has to finish its replies. */
const LOCK_WAIT_MS = 10_000;

function tryLock(dataDir: string, file: string): Libsql.Database | null {
  const lock = openFile(dataDir, file, 200);
  try {
    lock.exec('begin exclusive');
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return null;
    // faults of the disk, not of the lock file
    if (['full', 'unusable'].includes(storageFaultOf(error) ?? '')) throw error;
    throw new ConfigError(`DATA_DIR: ${file} cannot be locked (${(error as Error).message}); delete that file`);
  }
}

/**
 * Locks a data directory against a second server, which would end the first one's running replies. A killed process
 * leaves no lock. Resolves with a function that unlocks. Throws `ConfigError` if it is still locked after 10 s.
 */
export async function lockDataDir(dataDir: string): Promise<() => void> {
  makeDataDir(dataDir);
  const file = join(dataDir, 'server.lock');
  const deadline = performance.now() + LOCK_WAIT_MS;
  for (let isWaiting = false; ; isWaiting = true) {
    const lock = tryLock(dataDir, file);
    if (lock) return () => lock.close();
    const problem = `DATA_DIR: ${dataDir} is in use by another backend`;
    if (performance.now() >= deadline) throw new ConfigError(`${problem}; stop that one or name another directory`);
    if (!isWaiting) console.error(`${problem}; waiting ${LOCK_WAIT_MS / 1000} s for it …`);
    await wait(100);
  }
}
