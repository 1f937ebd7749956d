import { STORAGE_KEYS } from '../../contract';
import { createCell, createSignal } from '../signal';
import { local } from './browserStorage';

/** Owner of what is written before anyone has signed in. */
export const ANONYMOUS = 'anonymous';

const owner = createCell(ANONYMOUS);
const changed = createSignal();

/** Whose private data is read and written now: the signed-in user's, else the anonymous visitor's. */
export const currentOwner = (): string => owner.current();

export function setCurrentOwner(id: string | null) {
  const next = id ?? ANONYMOUS;
  if (next === owner.current()) return;
  owner.set(next);
  changed.emit();
}

export const onOwnerChanged = changed.on;

/** Who signed in on this device last and has not logged out; survives a session that ran out. */
export const lastOwner = {
  read: () => local.get(STORAGE_KEYS.owner),
  write: (id: string) => local.set(STORAGE_KEYS.owner, id),
  forget: () => local.remove(STORAGE_KEYS.owner),
};
