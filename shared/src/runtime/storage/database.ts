import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import { DATABASE } from './keys';

export interface OutboxEntry {
  clientId: string;
  storyId: string;
  conversationId: string | null;
  body: string;
  suggestionId?: string;
  /** epoch, ms */
  createdAt: number;
  state: 'waiting' | 'failed';
  error?: string;
  /** who wrote it; `anonymous` is adopted by whoever signs in */
  owner: string;
}

interface Schema extends DBSchema {
  outbox: { key: string; value: OutboxEntry };
  snapshots: { key: string; value: { key: string; owner: string; json: unknown } };
}

let opened: Promise<IDBPDatabase<Schema> | null> | undefined;

/** The device's database, or null where there is none (private windows, old WebViews). */
export function database(): Promise<IDBPDatabase<Schema> | null> {
  opened ??= openDB<Schema>(DATABASE, 1, {
    upgrade(db) {
      db.createObjectStore('outbox', { keyPath: 'clientId' });
      db.createObjectStore('snapshots', { keyPath: 'key' });
    },
  }).catch(() => null);
  return opened;
}
