import { STORAGE_KEYS, tab } from '@liaozhai/shared/runtime';

const wellFormed = /^[\w-]{1,32}$/;

/** The code of the invite link (`/?invite=CODE`) that this tab came by; page.html keeps it before anyone can tap a link away from it. */
export function readInviteCode(): string | null {
  // where nothing can be kept, the code counts as long as it stands in the address
  const code = tab.get(STORAGE_KEYS.invite) ?? new URLSearchParams(location.search).get('invite');
  return code && wellFormed.test(code) ? code : null;
}

/** Used up, also where it still stands in the address. */
export const forgetInviteCode = () => tab.set(STORAGE_KEYS.invite, '');
