import { randomUUID } from 'node:crypto';
import { refused } from '../errors.ts';
import type { Store } from './store.ts';

const LIES = 'Use a store that honours If-None-Match and If-Match (AWS S3, Ceph, MinIO, R2), or a local file system.';

/** Proves that the store refuses the second of two conflicting writes, for new keys and for swaps. Throws refused. */
export async function probeStore(store: Store): Promise<void> {
  const id = randomUUID();
  const object = `probe/${id}.json`;
  const created = await Promise.all([1, 2].map((n) => store.create(object, JSON.stringify({ n, id: randomUUID() }))));
  if (created.filter(Boolean).length !== 1)
    throw refused(`${store.label} let ${created.filter(Boolean).length} of two writers create the same key`, LIES);
  await store.remove(object);
  const pointer = `probe/pointer-${id}.json`;
  await store.swapPointer(pointer, JSON.stringify({ id: randomUUID() }), null);
  const first = await store.readPointer(pointer);
  if (!first) throw refused(`${store.label} lost a write it had confirmed`, LIES);
  const swaps = await Promise.all(
    [1, 2].map(() => store.swapPointer(pointer, JSON.stringify({ id: randomUUID() }), first.tag)),
  );
  const late = await store.swapPointer(pointer, JSON.stringify({ id: randomUUID() }), first.tag);
  if (swaps.filter(Boolean).length !== 1 || late)
    throw refused(`${store.label} let two writers swap the same state: conditional writes are not kept`, LIES);
}
