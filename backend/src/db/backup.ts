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

const fileSuffixes = ['', '-wal', '-shm'];

/**
 * Writes a consistent snapshot of a data directory's database into `target`, while a server may read and write.
 * The file gets its name once it is complete and verified. Returns its size in bytes. Throws `ConfigError`.
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
    // contains readers' texts and password hashes
    chmodSync(part, 0o600);
    assertBackup(part);
    flush(part);
    renameSync(part, target);
    return statSync(target).size;
  } catch (error) {
    rmSync(part, { force: true });
    throw toConfigError(error, dataDir, target);
  }
}

/**
 * Replaces a data directory's database with a backup. Returns the new name of the former database; null without one.
 * Changes nothing unless the backup is intact and of this version or an older one. Throws `ConfigError`.
 */
export async function restore(dataDir: string, backup: string): Promise<string | null> {
  if (!existsSync(backup) || !statSync(backup).isFile()) {
    throw new ConfigError(`${backup} is no file: name one that \`pnpm backend backup\` has made`);
  }
  const unlock = await lockDataDir(dataDir);
  const file = databaseFile(dataDir);
  const newFile = `${file}.new`;
  try {
    for (const suffix of fileSuffixes) rmSync(`${newFile}${suffix}`, { force: true });
    copyFileSync(backup, newFile);
    chmodSync(newFile, 0o600);
    assertBackup(newFile, backup);
    flush(newFile);
    const replacedFile = setAside(file);
    renameSync(newFile, file);
    return replacedFile;
  } catch (error) {
    for (const suffix of fileSuffixes) rmSync(`${newFile}${suffix}`, { force: true });
    throw toConfigError(error, dataDir, backup);
  } finally {
    unlock();
  }
}

/** Renames a database and its log, which may contain its newest rows. */
function setAside(file: string): string | null {
  if (!existsSync(file)) return null;
  const replacedFile = `${file}.replaced-${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}`;
  // the log first, since it must not be applied to another database
  for (const suffix of [...fileSuffixes].reverse())
    if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${replacedFile}${suffix}`);
  return replacedFile;
}

/** @param name name of the file in error messages. */
function assertBackup(file: string, name = file): void {
  const database = new Libsql(file, { timeout: 5_000 });
  try {
    const [first] = database.prepare('pragma integrity_check(1)').all([]) as { integrity_check: string }[];
    if (first?.integrity_check !== 'ok') throw damagedError(name, first?.integrity_check ?? 'it says nothing');
    const appliedMigrations = migrationsIn(database);
    if (appliedMigrations.length === 0)
      throw new ConfigError(`${name} is a database, but none of this product: nothing was changed`);
    const newerMigration = appliedMigrations.find((migration) => !knownMigrations.includes(migration));
    if (newerMigration) {
      throw new ConfigError(
        `${name} comes from a newer version, which made ${newerMigration}: restore it with that version`,
      );
    }
  } catch (error) {
    throw storageFaultOf(error) === 'damaged' ? damagedError(name, (error as Error).message) : error;
  } finally {
    database.close();
  }
}

function migrationsIn(database: Libsql.Database): string[] {
  const table = database.prepare("select 1 from sqlite_master where name = 'kysely_migration'").all([]);
  if (table.length === 0) return [];
  return (database.prepare('select name from kysely_migration').all([]) as { name: string }[]).map(({ name }) => name);
}

const damagedError = (name: string, detail: string) =>
  new ConfigError(`${name} is damaged (${detail.split('\n').join(' ')}): take another backup, nothing was changed`);

/** Flushes a file to the disk before it is renamed, so that a crash cannot leave a partial file under its name. */
function flush(file: string): void {
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Returns a storage fault as a `ConfigError` of one line, and any other error unchanged. */
function toConfigError(error: unknown, dataDir: string, fileName: string): unknown {
  const fault = storageFaultOf(error);
  if (fault === null) return error;
  if (fault === 'damaged') return new ConfigError(storageCure(fault, dataDir, error));
  const what = fault === 'full' ? 'no room is left for it' : 'it cannot be read or written';
  return new ConfigError(`${fileName}: ${what} (${(error as Error).message}); nothing was changed`);
}
