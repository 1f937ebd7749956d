import { createEmitter } from '../emitter';
import { database, type OutboxEntry } from './database';
import { ANONYMOUS, currentOwner } from './owner';

export type { OutboxEntry } from './database';

const changed = createEmitter();
const memory = new Map<string, OutboxEntry>();
const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('liaozhai-outbox');
if (channel) channel.onmessage = () => changed.emit();

function announce() {
  changed.emit();
  channel?.postMessage('changed');
}

async function everyEntry(): Promise<OutboxEntry[]> {
  const db = await database();
  return db ? db.getAll('outbox') : [...memory.values()];
}

async function write(entry: OutboxEntry) {
  const db = await database();
  if (db) await db.put('outbox', entry);
  else memory.set(entry.clientId, entry);
}

async function erase(clientId: string) {
  const db = await database();
  if (db) await db.delete('outbox', clientId);
  else memory.delete(clientId);
}

/** Messages on their way, durable in IndexedDB (in memory where there is none); every tab hears of a change. */
export const outboxStore = {
  /** the current owner's entries, oldest first */
  async all(): Promise<OutboxEntry[]> {
    const owner = currentOwner();
    const entries = await everyEntry();
    return entries.filter((entry) => entry.owner === owner).sort((a, b) => a.createdAt - b.createdAt);
  },
  async put(entry: Omit<OutboxEntry, 'owner'>) {
    await write({ ...entry, owner: currentOwner() });
    announce();
  },
  async remove(clientId: string) {
    await erase(clientId);
    announce();
  },
  subscribe: (handler: () => void) => changed.on(handler),
};

export async function adoptOutbox(owner: string) {
  for (const entry of await everyEntry()) if (entry.owner === ANONYMOUS) await write({ ...entry, owner });
  announce();
}

export async function purgeOutbox(keep?: string) {
  for (const entry of await everyEntry()) if (entry.owner !== keep) await erase(entry.clientId);
  announce();
}
