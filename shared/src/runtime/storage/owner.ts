import { STORAGE_KEYS } from '../../contract';
import { createCell } from '../signal';
import { local, tab } from './browserStorage';

/** Owner of data that is stored before anyone has signed in. */
export const ANONYMOUS = 'anonymous';

const owner = createCell(ANONYMOUS);

/** Owner of the private data that is read and written now: the signed-in user's id, else `ANONYMOUS`. */
export const currentOwner = owner.current;
export const setCurrentOwner = (id: string | null) => owner.set(id ?? ANONYMOUS);
export const onOwnerChanged = owner.on;

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

const UNCOPIED_KEY = STORAGE_KEYS.uncopied;
/** between the owner's id and the text */
const SEPARATOR = '\n';

/** A new account's credentials that could not be copied. Stored for this tab until they are copied by hand or purged. */
export const uncopiedCredentials = {
  /** Returns null if missing, or if it belongs to another user than the last one. */
  read(): string | null {
    const storedText = tab.get(UNCOPIED_KEY);
    if (storedText === null) return null;
    const end = storedText.indexOf(SEPARATOR);
    if (storedText.slice(0, end) === lastOwner.read()) return storedText.slice(end + 1);
    tab.remove(UNCOPIED_KEY);
    return null;
  },
  keep: (text: string) => tab.set(UNCOPIED_KEY, `${lastOwner.read()}${SEPARATOR}${text}`),
  forget: () => tab.remove(UNCOPIED_KEY),
};
