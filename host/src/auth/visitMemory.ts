import { STORAGE_KEYS } from '@liaozhai/shared/contract';
import { local, readJson, tab } from '@liaozhai/shared/runtime';
import type { Gender } from './nickname';

const codePattern = /^[\w-]{1,32}$/;

/** Returns the code of the invite link (`/?invite=CODE`) that opened this tab. `loader.ts` stores it before any navigation. */
export function readInviteCode(): string | null {
  // without storage, the code applies while it is in the address
  const code = tab.get(STORAGE_KEYS.invite) ?? new URLSearchParams(location.search).get('invite');
  return code && codePattern.test(code) ? code : null;
}

/** Stores an empty code, so that one still in the address is ignored, too. */
export const forgetInviteCode = () => tab.set(STORAGE_KEYS.invite, '');

/** An account created in this browser whose address is not confirmed yet. */
export interface PendingConfirmation {
  /** undefined if the server did not send it */
  userId?: string | undefined;
  gender?: Gender | undefined;
  /** when the latest mail was sent, ms since the epoch */
  mailedAt: number;
}

function readPending(): PendingConfirmation | null {
  if (local.get(STORAGE_KEYS.confirming) === null) return null;
  const value = readJson(STORAGE_KEYS.confirming);
  const { userId, gender, mailedAt } = (typeof value === 'object' && value ? value : {}) as Record<string, unknown>;
  return {
    userId: typeof userId === 'string' ? userId : undefined,
    gender: gender === 'male' || gender === 'female' ? gender : undefined,
    mailedAt: typeof mailedAt === 'number' ? mailedAt : 0,
  };
}

/** The confirmation that this browser is waiting for; its session becomes valid with it. */
export const pendingConfirmation = {
  read: readPending,
  store: (pending: PendingConfirmation) => local.set(STORAGE_KEYS.confirming, JSON.stringify(pending)),
  recordMail() {
    const pending = readPending();
    if (pending) pendingConfirmation.store({ ...pending, mailedAt: Date.now() });
  },
  /** Returns the pending confirmation and removes it. */
  claim(): PendingConfirmation | null {
    const pending = readPending();
    local.remove(STORAGE_KEYS.confirming);
    return pending;
  },
};
