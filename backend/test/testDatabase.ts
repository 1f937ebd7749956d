import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Compilable, sql } from 'kysely';
import Libsql from 'libsql';
import { type Db, query } from '../src/db/database.ts';
import { openDatabase } from '../src/db/openDatabase.ts';
import { PostgresDb, WRITERS_LOCK } from '../src/db/postgres.ts';

// What tests need to know of the database itself. `pnpm test:postgres` names a Postgres whose databases it may make and drop.
export const postgresUrl = process.env.TEST_POSTGRES_URL;

const nameOf = (dataDir: string): string => basename(dataDir).toLowerCase();

/** For making and dropping databases, which write far more than a statement of the product does. */
function onPostgres<Result>(address: string, work: (server: PostgresDb) => Result): Result {
  const server = new PostgresDb(address, () => {}, 40_000);
  try {
    return work(server);
  } finally {
    server.close();
  }
}

/** Runs words of SQL as they are. */
export function execute<Row = unknown>(db: Db, words: string): Row[] {
  return db.all<Row>({ compile: () => sql<Row>`${sql.raw(words)}`.compile(query) });
}

/** A folder for a backend's data, with an empty database of its own where that is Postgres. */
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

/** The variables by which a backend finds the database of a data folder. */
export function databaseOf(dataDir: string): Record<string, string> {
  if (!postgresUrl) return {};
  const address = new URL(postgresUrl);
  address.pathname = nameOf(dataDir);
  return { DATABASE_URL: address.href, APP_KEY: 'the same key of all tests' };
}

/** The database of a data folder, beside a server's connection or without one. */
export const databaseIn = (dataDir: string): Promise<Db> =>
  openDatabase({ DATABASE_URL: databaseOf(dataDir).DATABASE_URL, DATA_DIR: dataDir }, () => {});

/** What the database says of itself after a kill: nothing, if it is whole. Postgres repairs its own pages. */
export function damageIn(dataDir: string): unknown[] {
  if (postgresUrl) return [];
  const file = new Libsql(join(dataDir, 'liaozhai.db'));
  const said = file.pragma('integrity_check') as { integrity_check: string }[];
  file.close();
  return said.filter(({ integrity_check }) => integrity_check !== 'ok');
}

/** Everything that the database says, as text. */
export function rowsOf(db: Db): string {
  const tables = new Set(db.columns().map(({ table }) => table));
  return JSON.stringify([...tables].map((table) => execute(db, `select * from ${table}`)));
}

/** Everything that a backend keeps, as text: of a file its bytes. */
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

/** Another program writes to the same database, as seeding does; returns the unlocking. */
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

/** The steps in which the database would find the rows of a statement. Of Postgres those that it takes where tables are large. */
export function planOf(db: Db, statement: Compilable<unknown>): string[] {
  if (!(db instanceof PostgresDb)) {
    const compiled = statement.compile();
    const explained = { ...compiled, sql: `explain query plan ${compiled.sql}` };
    return db.all<{ detail: string }>({ compile: () => explained } as Compilable<never>).map(({ detail }) => detail);
  }
  execute(db, 'set enable_seqscan = off');
  return db.explain(statement);
}
