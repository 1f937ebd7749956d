import { currentOwner } from './owner';
import { createRecordStore } from './recordStore';

const KEPT = 60;

const records = createRecordStore('snapshots');

async function trim(owner: string) {
  const all = await records.all(owner);
  if (all.length <= KEPT) return;
  const oldest = all.sort((a, b) => a.savedAt - b.savedAt).slice(0, all.length - KEPT);
  for (const { key } of oldest) await records.remove(owner, key);
}

/** JSON copies of what was read last, to be read again without a network; the 60 last written are kept. */
export const snapshots = {
  read: async (key: string): Promise<unknown> => (await records.get(currentOwner(), key))?.value,
  async write(key: string, value: unknown): Promise<void> {
    const owner = currentOwner();
    await records.put({ owner, key, savedAt: Date.now(), value });
    await trim(owner);
  },
};

export async function purgeSnapshots(owner: string): Promise<void> {
  for (const { key } of await records.all(owner)) await records.remove(owner, key);
}

export const clearSnapshots = () => records.clear();
