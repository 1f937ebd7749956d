import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import Libsql from 'libsql';
import { ConfigError } from '../env.ts';
import { knownMigrations } from './migrations.ts';
import { databaseFile, lockDataDir } from './openDatabase.ts';
import { storageCure, storageFaultOf } from './storageFault.ts';

/** What belongs to one database file. */
const companions = ['', '-wal', '-shm'];

/**
 * Writes the database of a data directory as it is at one moment into `target`, while a server goes on reading and writing. The file
 * appears under its name once it is whole and checked. Returns its size in bytes; throws ConfigError.
 */
export function backUp(dataDir: string, target: string): number {
  const source = databaseFile(dataDir);
  if (!existsSync(source)) throw new ConfigError(`${source} does not exist: name the backend's folder with --data`);
  if (existsSync(target)) throw new ConfigError(`${target} exists: name another file, a backup replaces none`);
  const part = `${target}.part`;
  rmSync(part, { force: true });
  try {
    const database = new Libsql(source, { timeout: 5_000 });
    try {
      database.prepare('vacuum into ?').run([part]);
    } finally {
      database.close();
    }
    // it holds what everybody wrote, and their passwords' hashes
    chmodSync(part, 0o600);
    assertBackup(part);
    flush(part);
    renameSync(part, target);
    return statSync(target).size;
  } catch (error) {
    rmSync(part, { force: true });
    throw inOneLine(error, dataDir, target);
  }
}

/**
 * Puts a backup in the place of a data directory's database. What was there is kept beside it under the name that is returned (null if
 * there was none). Nothing is touched unless the backup is whole and of this version or an older one. Throws ConfigError.
 */
export async function restore(dataDir: string, backup: string): Promise<string | null> {
  if (!existsSync(backup) || !statSync(backup).isFile()) {
    throw new ConfigError(`${backup} is no file: name one that \`pnpm backend backup\` has made`);
  }
  const unlock = await lockDataDir(dataDir);
  const file = databaseFile(dataDir);
  const fresh = `${file}.new`;
  try {
    for (const end of companions) rmSync(`${fresh}${end}`, { force: true });
    copyFileSync(backup, fresh);
    chmodSync(fresh, 0o600);
    assertBackup(fresh, backup);
    flush(fresh);
    const replaced = setAside(file);
    renameSync(fresh, file);
    return replaced;
  } catch (error) {
    for (const end of companions) rmSync(`${fresh}${end}`, { force: true });
    throw inOneLine(error, dataDir, backup);
  } finally {
    unlock();
  }
}

/** Moves a database away, with the log that may hold its newest rows. */
function setAside(file: string): string | null {
  if (!existsSync(file)) return null;
  const replaced = `${file}.replaced-${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}`;
  // the log first: it must never lie beside another database
  for (const end of [...companions].reverse())
    if (existsSync(`${file}${end}`)) renameSync(`${file}${end}`, `${replaced}${end}`);
  return replaced;
}

/** @param name what it is called in what is thrown. */
function assertBackup(file: string, name = file): void {
  const database = new Libsql(file, { timeout: 5_000 });
  try {
    const [first] = database.prepare('pragma integrity_check(1)').all([]) as { integrity_check: string }[];
    if (first?.integrity_check !== 'ok') throw damaged(name, first?.integrity_check ?? 'it says nothing');
    const made = migrationsIn(database);
    if (made.length === 0)
      throw new ConfigError(`${name} is a database, but none of this product: nothing was changed`);
    const newer = made.find((migration) => !knownMigrations.includes(migration));
    if (newer) {
      throw new ConfigError(`${name} comes from a newer version, which made ${newer}: restore it with that version`);
    }
  } catch (error) {
    throw storageFaultOf(error) === 'damaged' ? damaged(name, (error as Error).message) : error;
  } finally {
    database.close();
  }
}

function migrationsIn(database: Libsql.Database): string[] {
  const table = database.prepare("select 1 from sqlite_master where name = 'kysely_migration'").all([]);
  if (table.length === 0) return [];
  return (database.prepare('select name from kysely_migration').all([]) as { name: string }[]).map(({ name }) => name);
}

const damaged = (name: string, detail: string) =>
  new ConfigError(`${name} is damaged (${detail.split('\n').join(' ')}): take another backup, nothing was changed`);

/** On the disk before its name is, so that no crash leaves half of it under that name. */
function flush(file: string): void {
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** A fault of the disks as a line; a defect stays what it is. */
function inOneLine(error: unknown, dataDir: string, named: string): unknown {
  const fault = storageFaultOf(error);
  if (fault === null) return error;
  if (fault === 'damaged') return new ConfigError(storageCure(fault, dataDir, error));
  const what = fault === 'full' ? 'no room is left for it' : 'it cannot be read or written';
  return new ConfigError(`${named}: ${what} (${(error as Error).message}); nothing was changed`);
}
