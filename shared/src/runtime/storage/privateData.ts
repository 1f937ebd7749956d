import { adoptDrafts, purgeDrafts } from './drafts';
import { STORAGE_KEYS } from './keys';
import { readText, removeText, writeText } from './localStored';
import { adoptOutbox, purgeOutbox } from './outboxStore';
import { purgePositions } from './positions';
import { purgeSnapshots } from './snapshots';

/** Someone signed in: their own data stays, an anonymous visitor's becomes theirs, anybody else's goes. */
export function settleOwner(id: string) {
  const last = readText(STORAGE_KEYS.lastOwner);
  if (last === id) return;
  adoptDrafts(id);
  purgeDrafts(id);
  if (last !== null) purgePositions();
  writeText(STORAGE_KEYS.lastOwner, id);
  void adoptOutbox(id)
    .then(() => purgeOutbox(id))
    .then(() => purgeSnapshots(id));
}

/** Log-out leaves nothing of the user on the device. */
export async function purgePrivateData() {
  removeText(STORAGE_KEYS.lastOwner);
  purgeDrafts();
  purgePositions();
  await purgeOutbox();
  await purgeSnapshots();
}
