import { STORAGE_KEYS } from '../storage/keys';
import { readJson, removeText, writeJson } from '../storage/localStored';
import { emptyUser, toStoredUser, toUserPatch, type User, type UserDto } from './user';

/** The user this device remembers; unknown or broken content is nobody. */
export function readStoredUser(): User | null {
  const stored = readJson(STORAGE_KEYS.user);
  if (typeof stored !== 'object' || stored === null) return null;
  const { id, name, username, avatar, balance, invite_code, persona } = stored as Partial<UserDto>;
  const hasId = (typeof id === 'string' && id !== '') || typeof id === 'number';
  return hasId ? { ...emptyUser, ...toUserPatch({ id, name, username, avatar, balance, invite_code, persona }) } : null;
}

export function writeStoredUser(user: User | null) {
  if (user) writeJson(STORAGE_KEYS.user, toStoredUser(user));
  else removeText(STORAGE_KEYS.user);
}
