/**
 * Faults of the storage. `damaged`: not a database. `full`: no space left. `unusable`: cannot be read or written.
 * `away`: the server cannot be reached. `busy`: another process has locked it for too long.
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
  // a folder in place of a file, or a file in place of a folder
  EISDIR: 'unusable',
  ENOTDIR: 'unusable',
  EEXIST: 'unusable',
  DATABASE_AWAY: 'away',
  SQLITE_BUSY: 'busy',
  // Postgres: lock_not_available, query_canceled, disk_full, read_only_sql_transaction, io_error
  '55P03': 'busy',
  '57014': 'busy',
  '53100': 'full',
  '25006': 'unusable',
  '58030': 'unusable',
};

/** Thrown if the database server refuses a statement or cannot be reached. */
export class DatabaseError extends Error {
  /**
   * @param code an SQLSTATE, or `DATABASE_AWAY`
   * @param place host, port and name of the database
   */
  constructor(
    readonly code: string,
    message: string,
    readonly place: string,
  ) {
    super(message);
  }
}

/** Thrown if a file is found to be damaged before SQLite reports it. */
export class DamagedFile extends Error {
  readonly code = 'SQLITE_CORRUPT';
}

/** Returns the storage fault that caused an error; null for any other cause. */
export function storageFaultOf(error: unknown): StorageFault | null {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return null;
  // extended codes, such as SQLITE_IOERR_WRITE, start with the plain code
  const plainCode = /^SQLITE_[A-Z]+/.exec(code)?.[0] ?? code;
  return faultsOfCodes[plainCode] ?? null;
}

/** Returns one line with the fault of the storage and its remedy. */
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
