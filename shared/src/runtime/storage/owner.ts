import { STORAGE_KEYS } from '../../contract';
import { createCell, createSignal } from '../signal';
import { local, tab } from './browserStorage';

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
  /** What they sign in with; empty where an older build wrote no name. */
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
/** between whose they are and the text itself */
const separator = '\n';

/** A new account's credentials that the clipboard refused: in this tab until they are copied by hand or purged. */
export const uncopiedCredentials = {
  /** Null if missing, or if it belongs to another user than the last one. */
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
