import { STORAGE_KEYS } from '../../contract';
import { createCell, createSignal } from '../signal';
import { local, tab } from './browserStorage';

/** Owner of data that is stored before anyone has signed in. */
export const ANONYMOUS = 'anonymous';

const owner = createCell(ANONYMOUS);
const changed = createSignal();

/** Owner of the private data that is read and written now: the signed-in user's id, else `ANONYMOUS`. */
export const currentOwner = (): string => owner.current();

export function setCurrentOwner(id: string | null) {
  const next = id ?? ANONYMOUS;
  if (next === owner.current()) return;
  owner.set(next);
  changed.emit();
}

export const onOwnerChanged = changed.on;

/** The last user who signed in on this device and has not logged out; kept when their session expires. */
export const lastOwner = {
  read: () => local.get(STORAGE_KEYS.owner),
  /** Login name of that user; empty if an older build stored none. */
  readLogin: () => local.get(STORAGE_KEYS.login) ?? '',
  write(id: string, login: string) {
    local.set(STORAGE_KEYS.owner, id);
    local.set(STORAGE_KEYS.login, login);
  },
  forget() {
    local.remove(STORAGE_KEYS.owner);
    local.remove(STORAGE_KEYS.login);
  },
};

const key = STORAGE_KEYS.uncopied;
/** between the owner's id and the text */
const separator = '\n';

/** A new account's credentials that could not be copied. Stored for this tab until they are copied by hand or purged. */
export const uncopiedCredentials = {
  /** Returns null if missing, or if it belongs to another user than the last one. */
  read(): string | null {
    const stored = tab.get(key);
    if (stored === null) return null;
    const end = stored.indexOf(separator);
    if (stored.slice(0, end) === lastOwner.read()) return stored.slice(end + 1);
    tab.remove(key);
    return null;
  },
  keep: (text: string) => tab.set(key, `${lastOwner.read()}${separator}${text}`),
  forget: () => tab.remove(key),
};
