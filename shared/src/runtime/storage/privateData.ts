import { adoptDrafts, purgeDrafts } from './drafts';
import { adoptOutbox, purgeOutbox } from './outboxStore';
import { ANONYMOUS } from './owner';
import { adoptPositions, purgePositions } from './positions';
import { purgeSnapshots } from './snapshots';
import { uncopiedCredentials } from './uncopied';

/** Deletes everything this device keeps of `owner`. */
export async function purgePrivateData(owner: string): Promise<void> {
  purgeDrafts(owner);
  purgePositions(owner);
  uncopiedCredentials.forget();
  await Promise.all([purgeOutbox(owner), purgeSnapshots(owner)]);
}

/** What was written before signing in belongs to whoever signed in. */
export async function adoptAnonymousData(owner: string): Promise<void> {
  adoptDrafts(ANONYMOUS, owner);
  adoptPositions(ANONYMOUS, owner);
  await adoptOutbox(ANONYMOUS, owner);
}
