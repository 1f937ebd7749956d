import { STORAGE_KEYS } from '@liaozhai/shared/contract';
import { local, readJson, tab } from '@liaozhai/shared/runtime';
import type { Gender } from './nickname';

const wellFormed = /^[\w-]{1,32}$/;

/** The code of the invite link (`/?invite=CODE`) that this tab came by; the page's loader keeps it before anyone can tap a link away from it. */
export function readInviteCode(): string | null {
  // where nothing can be kept, the code counts as long as it stands in the address
  const code = tab.get(STORAGE_KEYS.invite) ?? new URLSearchParams(location.search).get('invite');
  return code && wellFormed.test(code) ? code : null;
}

/** Used up, also where it still stands in the address. */
export const forgetInviteCode = () => tab.set(STORAGE_KEYS.invite, '');

/** An account of this browser's making whose address is yet to be confirmed. */
export interface PendingConfirmation {
  /** undefined where the server did not tell */
  userId?: string | undefined;
  gender?: Gender | undefined;
  /** when the latest mail went out, in milliseconds since 1970 */
  mailedAt: number;
}

function readPending(): PendingConfirmation | null {
  if (local.get(STORAGE_KEYS.confirming) === null) return null;
  const stored = readJson(STORAGE_KEYS.confirming);
  const { userId, gender, mailedAt } = (typeof stored === 'object' && stored ? stored : {}) as Record<string, unknown>;
  return {
    userId: typeof userId === 'string' ? userId : undefined,
    gender: gender === 'male' || gender === 'female' ? gender : undefined,
    mailedAt: typeof mailedAt === 'number' ? mailedAt : 0,
  };
}

/** What this browser knows of a confirmation it waits for: its session comes to life with it. */
export const pendingConfirmation = {
  read: readPending,
  remember: (pending: PendingConfirmation) => local.set(STORAGE_KEYS.confirming, JSON.stringify(pending)),
  /** Another mail went out. */
  mailed() {
    const pending = readPending();
    if (pending) pendingConfirmation.remember({ ...pending, mailedAt: Date.now() });
  },
  /** Asks once. */
  claim(): PendingConfirmation | null {
    const pending = readPending();
    local.remove(STORAGE_KEYS.confirming);
    return pending;
  },
};
