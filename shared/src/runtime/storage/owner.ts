import { readStoredUser } from '../session/storedUser';
import { STORAGE_KEYS } from './keys';
import { readText } from './localStored';

export const ANONYMOUS = 'anonymous';

/** Whose private data is written now: the user, or after a 401 the one who just was. */
export const currentOwner = (): string => readStoredUser()?.id ?? readText(STORAGE_KEYS.lastOwner) ?? ANONYMOUS;
