import { STORAGE_KEYS } from '../../contract';
import { createSignal } from '../signal';
import { openChannel } from './browserStorage';
import { currentOwner, onOwnerChanged } from './owner';
import { createRecordStore } from './recordStore';

/** A message on its way, kept until the server has it. */
export interface OutboxEntry {
  clientId: string;
  storyId: string;
  conversationId: string | null;
  body: string;
  suggestionId?: string;
  /** ms since 1970 */
  createdAt: number;
  state: 'waiting' | 'failed';
  error?: string;
}

const records = createRecordStore('outbox');
const changed = createSignal();
/** adoption and purge under way: readers wait for them, so a new owner never sees half of it */
let settled: Promise<unknown> = Promise.resolve();

const channel = openChannel(STORAGE_KEYS.outboxChannel);
channel?.addEventListener('message', () => changed.emit());
onOwnerChanged(changed.emit);

function tellAll() {
  changed.emit();
  channel?.postMessage('changed');
}

/** The messages of the current owner that the server does not have yet; they survive reload, offline and a 401. */
export const outboxStore = {
  /** Oldest first. */
  async all(): Promise<OutboxEntry[]> {
    await settled;
    const entries = (await records.all(currentOwner())).map((record) => record.value as OutboxEntry);
    return entries.sort((a, b) => a.createdAt - b.createdAt);
  },
  async put(entry: OutboxEntry): Promise<void> {
    const owner = currentOwner();
    await settled;
    await records.put({ owner, key: entry.clientId, savedAt: Date.now(), value: entry });
    tellAll();
  },
  async remove(clientId: string): Promise<void> {
    const owner = currentOwner();
    await settled;
    await records.remove(owner, clientId);
    tellAll();
  },
  /** Hears changes of this tab, of others, and of the owner. Returns the way to stop. */
  subscribe: (listener: () => void): (() => void) => changed.on(listener),
};

export function purgeOutbox(owner: string): Promise<void> {
  const work = settled.then(async () => {
    for (const { key } of await records.all(owner)) await records.remove(owner, key);
    tellAll();
  });
  settled = work;
  return work;
}

export function adoptOutbox(from: string, to: string): Promise<void> {
  const work = settled.then(async () => {
    for (const record of await records.all(from)) {
      await records.put({ ...record, owner: to });
      await records.remove(from, record.key);
    }
    tellAll();
  });
  settled = work;
  return work;
}

export const clearOutbox = () => records.clear();
