import { STORAGE_KEYS } from '@liaozhai/shared/contract';
import { local, tab } from '@liaozhai/shared/runtime';

const wellFormed = /^[\w-]{1,32}$/;

/** The code of the invite link (`/?invite=CODE`) that this tab came by; the page's loader keeps it before anyone can tap a link away from it. */
export function readInviteCode(): string | null {
  // where nothing can be kept, the code counts as long as it stands in the address
  const code = tab.get(STORAGE_KEYS.invite) ?? new URLSearchParams(location.search).get('invite');
  return code && wellFormed.test(code) ? code : null;
}

/** Used up, also where it still stands in the address. */
export const forgetInviteCode = () => tab.set(STORAGE_KEYS.invite, '');

/** Remembers that this browser registered with an address it has yet to confirm: its session then comes to life. */
export const rememberPendingConfirmation = () => local.set(STORAGE_KEYS.confirming, '1');

/** Whether this browser was waiting for the confirmation; asks once. */
export function takePendingConfirmation(): boolean {
  const pending = local.get(STORAGE_KEYS.confirming) !== null;
  local.remove(STORAGE_KEYS.confirming);
  return pending;
}
