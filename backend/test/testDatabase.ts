import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Compilable, sql } from 'kysely';
import Libsql from 'libsql';
import { type Db, query } from '../src/db/database.ts';
import { openDatabase } from '../src/db/openDatabase.ts';
import { PostgresDb, WRITERS_LOCK } from '../src/db/postgres.ts';

// Database access for tests. `pnpm test:postgres` sets the URL of a Postgres whose databases may be created and dropped.
export const postgresUrl = process.env.TEST_POSTGRES_URL;

const nameOf = (dataDir: string): string => basename(dataDir).toLowerCase();

/** Runs `work` with a long patience, since creating and dropping databases is slow. */
function onPostgres<Result>(address: string, work: (server: PostgresDb) => Result): Result {
  const server = new PostgresDb(address, () => {}, 40_000);
  try {
    return work(server);
  } finally {
    server.close();
  }
}

/** Runs raw SQL. */
export function execute<Row = unknown>(db: Db, statement: string): Row[] {
  return db.all<Row>({ compile: () => sql<Row>`${sql.raw(statement)}`.compile(query) });
}

/** Creates a data folder and, with Postgres, an empty database for it. */
export function makeDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'liaozhai-backend-'));
  if (postgresUrl) onPostgres(postgresUrl, (server) => execute(server, `create database "${nameOf(dataDir)}"`));
  return dataDir;
}

export function removeDataDir(dataDir: string): void {
  rmSync(dataDir, { recursive: true, force: true });
  if (postgresUrl)
    onPostgres(postgresUrl, (server) => execute(server, `drop database "${nameOf(dataDir)}" with (force)`));
}

/** Returns the environment variables for the database of a data folder. */
export function databaseOf(dataDir: string): Record<string, string> {
  if (!postgresUrl) return {};
  const address = new URL(postgresUrl);
  address.pathname = nameOf(dataDir);
  return { DATABASE_URL: address.href, APP_KEY: 'the same key of all tests' };
}

/** Opens the database of a data folder, also while a server has it open. */
export const databaseIn = (dataDir: string): Promise<Db> =>
  openDatabase({ DATABASE_URL: databaseOf(dataDir).DATABASE_URL, DATA_DIR: dataDir }, () => {});

/** Returns the database's integrity problems after a kill. Postgres repairs its own pages. */
export function damageIn(dataDir: string): unknown[] {
  if (postgresUrl) return [];
  const file = new Libsql(join(dataDir, 'liaozhai.db'));
  const problems = file.pragma('integrity_check') as { integrity_check: string }[];
  file.close();
  return problems.filter(({ integrity_check }) => integrity_check !== 'ok');
}

/** Returns all rows of the database as text. */
export function rowsOf(db: Db): string {
  const tables = new Set(db.columns().map(({ table }) => table));
  return JSON.stringify([...tables].map((table) => execute(db, `select * from ${table}`)));
}

/** Returns all stored data as text; for a file its bytes. */
export function storedIn({ dataDir, services }: { dataDir: string; services: { db: Db } }): string {
  if (postgresUrl) return rowsOf(services.db);
  return ['liaozhai.db', 'liaozhai.db-wal'].map((name) => readFileSync(join(dataDir, name), 'latin1')).join('');
}

/** Makes the database refuse writes, or accept them again. */
export const allowWrites = (db: Db, isAllowed: boolean): unknown =>
  execute(
    db,
    postgresUrl
      ? `set default_transaction_read_only = ${isAllowed ? 'off' : 'on'}`
      : `pragma query_only = ${isAllowed ? 0 : 1}`,
  );

/** Locks the database like another process that writes, such as seeding. Returns a function that unlocks. */
export function lockWrites(dataDir: string): () => void {
  const { DATABASE_URL } = databaseOf(dataDir);
  if (DATABASE_URL) {
    const other = new PostgresDb(DATABASE_URL, () => {});
    execute(other, `select pg_advisory_lock(${WRITERS_LOCK})`);
    return () => other.close();
  }
  const other = new Libsql(join(dataDir, 'liaozhai.db'));
  other.exec('begin immediate');
  return () => {
    other.exec('rollback');
    other.close();
  };
}

/** Returns the query plan of a statement; for Postgres the one for large tables. */
export function planOf(db: Db, statement: Compilable<unknown>): string[] {
  if (!(db instanceof PostgresDb)) {
    const compiled = statement.compile();
    const explained = { ...compiled, sql: `explain query plan ${compiled.sql}` };
    return db.all<{ detail: string }>({ compile: () => explained } as Compilable<never>).map(({ detail }) => detail);
  }
  execute(db, 'set enable_seqscan = off');
  return db.explain(statement);
}
