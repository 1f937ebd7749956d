import { database } from './database';
import { currentOwner } from './owner';

/** What was last read, for reading again offline. */
export const snapshots = {
  async read(key: string): Promise<unknown> {
    const found = await (await database())?.get('snapshots', key);
    return found && (found.owner === 'everyone' || found.owner === currentOwner()) ? found.json : undefined;
  },
  /** `isPrivate` ties it to the user, and it goes with them. */
  async write(key: string, json: unknown, { isPrivate = false } = {}) {
    await (await database())?.put('snapshots', { key, owner: isPrivate ? currentOwner() : 'everyone', json });
  },
};

export async function purgeSnapshots(keep?: string) {
  const db = await database();
  for (const { key, owner } of (await db?.getAll('snapshots')) ?? []) {
    if (owner !== 'everyone' && owner !== keep) await db?.delete('snapshots', key);
  }
}
