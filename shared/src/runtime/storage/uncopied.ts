import { STORAGE_KEYS } from '../../contract';
import { lastOwner } from './owner';

const key = STORAGE_KEYS.uncopied;
/** between whose they are and the text itself */
const separator = '\n';

function read(): string | null {
  try {
    const kept = sessionStorage.getItem(key);
    if (kept === null) return null;
    const end = kept.indexOf(separator);
    if (kept.slice(0, end) === lastOwner.read()) return kept.slice(end + 1);
    sessionStorage.removeItem(key);
  } catch {
    // nothing is stored where nothing can be
  }
  return null;
}

/** A new account's credentials that the clipboard refused: in this tab until they are copied by hand or purged. */
export const uncopiedCredentials = {
  /** Null where there are none, or none of who signed in here last. */
  read,
  keep(text: string) {
    try {
      sessionStorage.setItem(key, `${lastOwner.read()}${separator}${text}`);
    } catch {
      // they stay on the screen
    }
  },
  forget() {
    try {
      sessionStorage.removeItem(key);
    } catch {
      // nothing is stored where nothing can be
    }
  },
};
