import { type DBSchema, type IDBPDatabase, type IDBPObjectStore, openDB } from 'idb';
import {
  fallback,
  looseObject,
  nullable,
  number,
  optional,
  picklist,
  pipe,
  safeParse,
  string,
  transform,
  union,
} from 'valibot';
import { STORAGE_KEYS } from '../../contract';
import { createCell, createSignal } from '../signal';
import { createKeyValueStore, type KeyValueStore, local, openChannel, readJson } from './browserStorage';
import { currentOwner, onOwnerChanged } from './owner';

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
  /** Changes a record. Resolves to false, and stores nothing, if it has been removed, perhaps by another tab. */
  replace(record: StoredRecord): Promise<boolean>;
  remove(owner: string, key: string): Promise<void>;
}

type Kind = 'outbox' | 'snapshots';
type Row = { key: [string, string]; value: StoredRecord };
interface Schema extends DBSchema {
  outbox: Row;
  snapshots: Row;
}

// Must stay 1: a build that is rolled back cannot open a higher version. Add a new kind as a separate database.
const DATABASE_VERSION = 1;

const databaseCell = createCell<Promise<IDBPDatabase<Schema> | null> | undefined>(undefined);

function openDatabase(): Promise<IDBPDatabase<Schema> | null> {
  const database =
    databaseCell.current() ??
    openSchema().catch((cause: unknown) => {
      console.warn('no IndexedDB', cause);
      return null;
    });
  databaseCell.set(database);
  return database;
}

/** `async`, so that a throw becomes a rejection: with cookies blocked, Firefox throws where `indexedDB` is named. */
async function openSchema(): Promise<IDBPDatabase<Schema> | null> {
  if (typeof indexedDB === 'undefined') return null;
  return openDB<Schema>(STORAGE_KEYS.database, DATABASE_VERSION, {
    upgrade(database) {
      database.createObjectStore('outbox', { keyPath: ['owner', 'key'] });
      database.createObjectStore('snapshots', { keyPath: ['owner', 'key'] });
    },
    // the browser closed it (storage pressure, cleared by hand): the next use reopens it
    terminated: () => databaseCell.set(undefined),
  });
}

/**
 * Awaits the transaction too. Clearing the site's data aborts it, and idb leaves that rejection unhandled, which counts as an
 * error of the page.
 */
async function inTransaction<Result, Mode extends 'readonly' | 'readwrite'>(
  database: IDBPDatabase<Schema>,
  kind: Kind,
  mode: Mode,
  work: (records: IDBPObjectStore<Schema, [Kind], Kind, Mode>) => Promise<Result>,
): Promise<Result> {
  const { store, done } = database.transaction(kind, mode);
  const [result] = await Promise.all([work(store), done]);
  return result;
}

/** Longest wait for IndexedDB, in ms of the page's running time: time in which a phone sleeps does not count. */
const TIMEOUT_MS = 3000;
const TICK_MS = 500;

/**
 * Limits the wait for a database that may never respond. In WebKit, a page left open can block its transaction and all later
 * ones. While one response is overdue, later calls fail without waiting.
 */
function createBoundedWait() {
  const recovered = createSignal();
  let overdueCount = 0;

  async function isOverdue(isDone: () => boolean): Promise<boolean> {
    for (let waitedMs = 0; waitedMs < TIMEOUT_MS && overdueCount === 0 && !isDone(); waitedMs += TICK_MS)
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    return !isDone();
  }

  return {
    /** Notifies when the last overdue response has arrived. */
    onRecovered: recovered.on,
    /** Resolves to the result of `work`. Rejects when it is overdue; `work` continues. */
    async wait<Result>(work: Promise<Result>): Promise<Result> {
      let isDone = false;
      const trackedWork = work.finally(() => {
        isDone = true;
      });
      const timeout = isOverdue(() => isDone).then((isLate) => {
        if (!isLate) return trackedWork;
        overdueCount += 1;
        const countDown = () => {
          overdueCount -= 1;
          if (overdueCount === 0) recovered.emit();
        };
        trackedWork.then(countDown, countDown);
        throw new Error('IndexedDB does not answer');
      });
      return Promise.race([trackedWork, timeout]);
    },
  };
}

/** Records as JSON texts, by owner and key. */
function textRecords(
  storage: KeyValueStore,
): RecordStore & { clear(): void; dropRefused(owner: string, key: string): void } {
  const prefixOf = (owner: string) => `${STORAGE_KEYS.outbox}:${owner}:`;
  const id = (owner: string, key: string) => `${prefixOf(owner)}${key}`;
  const read = (name: string) => {
    const record = readJson(name, storage) as StoredRecord | null | undefined;
    return record?.key === undefined ? undefined : record;
  };
  return {
    get: async (owner, key) => read(id(owner, key)),
    all: async (owner) => storage.keys(prefixOf(owner)).flatMap((name) => read(name) ?? []),
    put: async (record) => storage.set(id(record.owner, record.key), JSON.stringify(record)),
    async replace(record) {
      const name = id(record.owner, record.key);
      // without a gap between both
      const isStored = storage.get(name) !== null;
      if (isStored) storage.set(name, JSON.stringify(record));
      return isStored;
    },
    remove: async (owner, key) => storage.remove(id(owner, key)),
    clear: () => storage.keys(`${STORAGE_KEYS.outbox}:`).forEach(storage.remove),
    /** Removes a record that only this page holds in memory: other tabs could not remove it. */
    dropRefused(owner, key) {
      if (storage.isRefused(id(owner, key))) storage.remove(id(owner, key));
    },
  };
}

const createMemoryStore = () =>
  createKeyValueStore(() => {
    throw new DOMException('nothing is stored', 'NotSupportedError');
  });

/**
 * Stores records in IndexedDB; in this page's memory if that is missing, refuses or times out. The outbox is written to
 * `localStorage` too: a message must survive a full disk, and later ones must not overtake it while IndexedDB opens.
 */
export function createRecordStore(kind: Kind) {
  const isOutbox = kind === 'outbox';
  const fallbackStore = textRecords(isOutbox ? local : createMemoryStore());
  const boundedWait = createBoundedWait();
  /** Resolves to null if the database is missing, refuses or times out. */
  const attempt = async <Result>(inDatabase: (database: IDBPDatabase<Schema>) => Promise<Result>) => {
    const work = openDatabase().then(async (database) => (database ? { result: await inDatabase(database) } : null));
    return boundedWait.wait(work).catch((cause: unknown) => {
      console.warn(`IndexedDB refused ${kind}`, cause);
      return null;
    });
  };
  const readIn = <Result>(read: Parameters<typeof inTransaction<Result, 'readonly'>>[3]) =>
    attempt((database) => inTransaction(database, kind, 'readonly', read));
  const store: RecordStore = {
    get: async (owner, key) =>
      (await fallbackStore.get(owner, key)) ?? (await readIn((records) => records.get([owner, key])))?.result,
    async all(owner) {
      const outcome = await readIn((records) => records.getAll(IDBKeyRange.bound([owner], [owner, []])));
      const databaseRecords = outcome?.result ?? [];
      const fallbackRecords = await fallbackStore.all(owner);
      return [
        ...databaseRecords.filter(({ key }) => fallbackRecords.every((record) => record.key !== key)),
        ...fallbackRecords,
      ];
    },
    async put(record) {
      if (isOutbox) await fallbackStore.put(record);
      const outcome = await attempt(async (database) => {
        await database.put(kind, record);
        fallbackStore.dropRefused(record.owner, record.key);
      });
      if (!outcome && !isOutbox) await fallbackStore.put(record);
    },
    async replace(record) {
      const { owner, key } = record;
      await fallbackStore.replace(record);
      const replaceIn = async (records: IDBPObjectStore<Schema, [Kind], Kind, 'readwrite'>) =>
        (await records.getKey([owner, key])) !== undefined && Boolean(await records.put(record));
      const outcome = await attempt((database) => inTransaction(database, kind, 'readwrite', replaceIn));
      return outcome?.result || (await store.get(owner, key)) !== undefined;
    },
    async remove(owner, key) {
      await fallbackStore.remove(owner, key);
      await attempt((database) => database.delete(kind, [owner, key]));
    },
  };
  return {
    ...store,
    async clear() {
      fallbackStore.clear();
      await attempt((database) => database.clear(kind));
    },
    /** Subscribes to a slow database that responds again: earlier reads may lack records. Returns the unsubscribe function. */
    onRecovered: boundedWait.onRecovered,
  };
}

/** An unsent message, stored until the server has accepted it. */
export interface OutboxEntry {
  clientId: string;
  storyId: string;
  /** Part of the request body, so it must not change: the same idempotency key needs the same body. */
  conversationId: string | null;
  body: string;
  suggestionId?: string;
  /** price in points that the user saw; undefined if the server names no price */
  price?: number;
  /** ms since 1970 */
  createdAt: number;
  /** `sending` in every tab, until it has been sent or the sending tab was killed */
  state: 'waiting' | 'sending' | 'failed';
  error?: string;
}

const textOrNumber = union([string(), pipe(number(), transform(String))]);

/** Another build may have written the entry: unknown fields stay. Text, id and story suffice to send it. */
const entrySchema = looseObject({
  clientId: string(),
  storyId: textOrNumber,
  conversationId: fallback(nullable(textOrNumber), null),
  body: string(),
  suggestionId: fallback(optional(textOrNumber), undefined),
  price: fallback(optional(number()), undefined),
  createdAt: fallback(number(), 0),
  state: fallback(picklist(['waiting', 'sending', 'failed']), 'waiting'),
  error: fallback(optional(string()), undefined),
});

/** An unreadable entry is not listed but stays stored, for a build that can read it. */
function toEntries({ key, savedAt, value }: StoredRecord): OutboxEntry[] {
  const named = { clientId: key, createdAt: savedAt, ...(typeof value === 'object' && value) };
  const parsed = safeParse(entrySchema, named);
  return parsed.success ? [parsed.output] : [];
}

/** The current owner's messages that the server has not accepted yet; they survive a reload, offline use and a 401. */
export function createOutboxStore() {
  const records = createRecordStore('outbox');
  const outboxChanged = createSignal();
  const notifyOtherTabs = openChannel(STORAGE_KEYS.outboxChannel, outboxChanged.emit);
  /** Adoption or purge in progress; readers wait for it, so that a new owner never reads a partial list. */
  let pendingWork: Promise<unknown> = Promise.resolve();

  onOwnerChanged(outboxChanged.emit);
  records.onRecovered(outboxChanged.emit);

  function notifyAll() {
    outboxChanged.emit();
    notifyOtherTabs();
  }

  function enqueue(work: () => Promise<void>): Promise<void> {
    const done = pendingWork.then(work).then(notifyAll);
    pendingWork = done;
    return done;
  }

  const toRecord = (entry: OutboxEntry): StoredRecord => ({
    owner: currentOwner(),
    key: entry.clientId,
    savedAt: Date.now(),
    value: entry,
  });

  return {
    /** Returns the messages, oldest first. */
    async all(): Promise<OutboxEntry[]> {
      await pendingWork;
      const entries = (await records.all(currentOwner())).flatMap(toEntries);
      return entries.sort((a, b) => a.createdAt - b.createdAt);
    },
    /** Stores a message. `localStorage` has it before this returns, since the page may be killed immediately. */
    async put(entry: OutboxEntry): Promise<void> {
      await records.put(toRecord(entry));
      notifyAll();
    },
    /** Changes a stored message. Resolves to false if it has been removed, perhaps by another tab. */
    async replace(entry: OutboxEntry): Promise<boolean> {
      const isStored = await records.replace(toRecord(entry));
      notifyAll();
      return isStored;
    },
    async remove(clientId: string): Promise<void> {
      const owner = currentOwner();
      await pendingWork;
      await records.remove(owner, clientId);
      notifyAll();
    },
    /** Subscribes to changes in this tab, in others, and of the owner. Returns the unsubscribe function. */
    subscribe: (listener: () => void): (() => void) => outboxChanged.on(listener),
    purge: (owner: string): Promise<void> =>
      enqueue(async () => {
        for (const { key } of await records.all(owner)) await records.remove(owner, key);
      }),
    /** Moves all messages of one owner to another. */
    adopt: (from: string, to: string): Promise<void> =>
      enqueue(async () => {
        for (const record of await records.all(from)) {
          await records.put({ ...record, owner: to });
          await records.remove(from, record.key);
        }
      }),
    clear: () => records.clear(),
  };
}

export const outboxStore = createOutboxStore();

const MAX_COPIES = 60;

/** JSON copies of responses, to read them without a network; the 60 latest are stored. */
export function createOfflineCache() {
  const records = createRecordStore('snapshots');

  async function trim(owner: string) {
    const cachedRecords = await records.all(owner);
    if (cachedRecords.length <= MAX_COPIES) return;
    // a time in the future counts as old: the clock has been set back since
    const timeOf = ({ savedAt }: StoredRecord) => (savedAt > Date.now() ? 0 : savedAt);
    const oldest = cachedRecords.sort((a, b) => timeOf(a) - timeOf(b)).slice(0, cachedRecords.length - MAX_COPIES);
    for (const { key } of oldest) await records.remove(owner, key);
  }

  return {
    /** Returns undefined if nothing is stored under the key. */
    read: async (key: string): Promise<unknown> => (await records.get(currentOwner(), key))?.value,
    async write(key: string, value: unknown): Promise<void> {
      const owner = currentOwner();
      await records.put({ owner, key, savedAt: Date.now(), value });
      await trim(owner);
    },
    /** Removes the copies whose keys begin with `prefix`. Returns their number. */
    async purge(owner = currentOwner(), prefix = ''): Promise<number> {
      const copies = (await records.all(owner)).filter(({ key }) => key.startsWith(prefix));
      for (const { key } of copies) await records.remove(owner, key);
      return copies.length;
    },
    clear: () => records.clear(),
  };
}

export const offlineCache = createOfflineCache();
