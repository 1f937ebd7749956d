import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import { STORAGE_KEYS } from '../../contract';

/** One kept thing of one owner. */
export interface StoredRecord {
  owner: string;
  key: string;
  /** ms since 1970 */
  savedAt: number;
  value: unknown;
}

/** Records of one kind, by owner and key. */
export interface RecordStore {
  get(owner: string, key: string): Promise<StoredRecord | undefined>;
  all(owner: string): Promise<StoredRecord[]>;
  put(record: StoredRecord): Promise<void>;
  remove(owner: string, key: string): Promise<void>;
}

type Kind = 'outbox' | 'snapshots';
type Row = { key: [string, string]; value: StoredRecord };
interface Schema extends DBSchema {
  outbox: Row;
  snapshots: Row;
}

// Stays 1 for ever: a build that is rolled back cannot open a higher one. New kinds get a database of their own.
const DATABASE_VERSION = 1;

let opened: Promise<IDBPDatabase<Schema> | null> | undefined;

function openDatabase(): Promise<IDBPDatabase<Schema> | null> {
  opened ??= openSchema().catch((cause: unknown) => {
    console.warn('no IndexedDB: the outbox lives in memory', cause);
    return null;
  });
  return opened;
}

/** Async from its first line: with cookies blocked Firefox throws where `indexedDB` is merely named. */
async function openSchema(): Promise<IDBPDatabase<Schema> | null> {
  if (typeof indexedDB === 'undefined') return null;
  return openDB<Schema>(STORAGE_KEYS.database, DATABASE_VERSION, {
    upgrade(database) {
      database.createObjectStore('outbox', { keyPath: ['owner', 'key'] });
      database.createObjectStore('snapshots', { keyPath: ['owner', 'key'] });
    },
    // the browser took it away (storage pressure, cleared by hand): the next use opens it anew
    terminated() {
      opened = undefined;
    },
  });
}

function memoryStore(): RecordStore & { clear(): void } {
  const records = new Map<string, StoredRecord>();
  const id = (owner: string, key: string) => JSON.stringify([owner, key]);
  return {
    get: async (owner, key) => records.get(id(owner, key)),
    all: async (owner) => [...records.values()].filter((record) => record.owner === owner),
    put: async (record) => void records.set(id(record.owner, record.key), record),
    remove: async (owner, key) => void records.delete(id(owner, key)),
    clear: () => records.clear(),
  };
}

/** Kept in IndexedDB; where that is missing or refuses, in memory for this page. */
export function createRecordStore(kind: Kind): RecordStore & { clear(): Promise<void> } {
  const memory = memoryStore();
  const attempt = async <Result>(
    inDatabase: (database: IDBPDatabase<Schema>) => Promise<Result>,
    inMemory: () => Promise<Result>,
  ): Promise<Result> => {
    const database = await openDatabase();
    if (!database) return inMemory();
    return inDatabase(database).catch((cause: unknown) => {
      console.warn(`IndexedDB refused ${kind}`, cause);
      return inMemory();
    });
  };
  return {
    get: async (owner, key) =>
      (await memory.get(owner, key)) ??
      attempt(
        (database) => database.get(kind, [owner, key]),
        async () => undefined,
      ),
    async all(owner) {
      const stored = await attempt(
        (database) => database.getAll(kind, IDBKeyRange.bound([owner], [owner, []])),
        async () => [],
      );
      const refused = await memory.all(owner);
      return [...stored.filter(({ key }) => refused.every((record) => record.key !== key)), ...refused];
    },
    put: (record) =>
      attempt(
        async (database) => {
          await database.put(kind, record);
          // one that was refused before is overtaken
          await memory.remove(record.owner, record.key);
        },
        () => memory.put(record),
      ),
    async remove(owner, key) {
      await memory.remove(owner, key);
      await attempt(
        (database) => database.delete(kind, [owner, key]),
        async () => undefined,
      );
    },
    async clear() {
      memory.clear();
      await attempt(
        (database) => database.clear(kind),
        async () => undefined,
      );
    },
  };
}
