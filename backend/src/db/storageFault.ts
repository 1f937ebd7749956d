/**
 * What can be wrong with the place of the data. `damaged` is not a database. `full` has no room left. `unusable` cannot be read or
 * written. `away` is a server that cannot be reached. `busy` is held by another program for too long.
 */
type StorageFault = 'damaged' | 'full' | 'unusable' | 'away' | 'busy';

const faultsOfCodes: Record<string, StorageFault> = {
  SQLITE_NOTADB: 'damaged',
  SQLITE_CORRUPT: 'damaged',
  SQLITE_FULL: 'full',
  ENOSPC: 'full',
  EDQUOT: 'full',
  SQLITE_CANTOPEN: 'unusable',
  SQLITE_READONLY: 'unusable',
  SQLITE_IOERR: 'unusable',
  SQLITE_PERM: 'unusable',
  EACCES: 'unusable',
  EPERM: 'unusable',
  EROFS: 'unusable',
  EIO: 'unusable',
  DATABASE_AWAY: 'away',
  SQLITE_BUSY: 'busy',
  // of Postgres: lock_not_available, query_canceled, disk_full, read_only_sql_transaction, io_error
  '55P03': 'busy',
  '57014': 'busy',
  '53100': 'full',
  '25006': 'unusable',
  '58030': 'unusable',
};

/** What a database server refused, or that it cannot be reached. */
export class DatabaseError extends Error {
  /** an SQLSTATE, or DATABASE_AWAY */
  readonly code: string;
  /** host, port and name */
  readonly place: string;

  constructor(code: string, message: string, place: string) {
    super(message);
    this.code = code;
    this.place = place;
  }
}

/** Thrown where a file is found to be no database although nothing failed yet. */
export class DamagedFile extends Error {
  readonly code = 'SQLITE_CORRUPT';
}

/** The fault of the storage that an error comes from; null if it comes from anything else. */
export function storageFaultOf(error: unknown): StorageFault | null {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return null;
  // extended codes, such as SQLITE_IOERR_WRITE, begin with the plain one
  const plain = /^SQLITE_[A-Z]+/.exec(code)?.[0] ?? code;
  return faultsOfCodes[plain] ?? null;
}

/** One line that says what is wrong with the data of `dataDir` and what cures it. */
export function storageCure(fault: StorageFault, dataDir: string, error: unknown): string {
  const detail = (error as Error).message;
  if (error instanceof DatabaseError) {
    if (fault === 'full') return `DATABASE_URL: no room is left at ${error.place} (${detail}). Free some there`;
    if (fault === 'away')
      return `DATABASE_URL: ${error.place} cannot be reached (${detail}). Start it, or mend the way to it`;
    if (fault === 'busy')
      return `DATABASE_URL: ${error.place} is held by another program (${detail}). End what holds it, or wait`;
    return `DATABASE_URL: ${error.place} takes no changes (${detail}). Name the primary, or mend its disk`;
  }
  if (fault === 'damaged') {
    return `DATA_DIR: ${dataDir}/liaozhai.db is damaged (${detail}). Bring back a backup with \`pnpm backend restore <file> --data ${dataDir}\`, or move liaozhai.db* away to begin with an empty one`;
  }
  if (fault === 'busy')
    return `DATA_DIR: ${dataDir}/liaozhai.db is held by another program (${detail}). End what holds it, or wait`;
  if (fault === 'full')
    return `DATA_DIR: no room is left where ${dataDir} is (${detail}). Free some, or name another folder`;
  return `DATA_DIR: ${dataDir} cannot be read and written (${detail}). Mend its rights or its disk, or name another folder`;
}
