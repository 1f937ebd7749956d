import { STORAGE_KEYS } from '../../contract';
import { tab } from './browserStorage';
import { lastOwner } from './owner';

const key = STORAGE_KEYS.uncopied;
/** between whose they are and the text itself */
const separator = '\n';

/** A new account's credentials that the clipboard refused: in this tab until they are copied by hand or purged. */
export const uncopiedCredentials = {
  /** Null where there are none, or none of who signed in here last. */
  read(): string | null {
    const kept = tab.get(key);
    if (kept === null) return null;
    const end = kept.indexOf(separator);
    if (kept.slice(0, end) === lastOwner.read()) return kept.slice(end + 1);
    tab.remove(key);
    return null;
  },
  keep: (text: string) => tab.set(key, `${lastOwner.read()}${separator}${text}`),
  forget: () => tab.remove(key),
};
