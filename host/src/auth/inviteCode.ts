const storageKey = 'liaozhai-invite';
const wellFormed = /^[\w-]{1,32}$/;

/** Remembers the code of an invite link (`/?invite=CODE`) for as long as the tab lives. */
export function rememberInviteCode(search: string) {
  const code = new URLSearchParams(search).get('invite');
  if (!code || !wellFormed.test(code)) return;
  try {
    sessionStorage.setItem(storageKey, code);
  } catch {
    // without storage the invitation counts for this page only, which has the code in its address
  }
}

/** The code that this visitor came by, if any. */
export function readInviteCode(): string | null {
  try {
    return sessionStorage.getItem(storageKey);
  } catch {
    return new URLSearchParams(location.search).get('invite');
  }
}

export function forgetInviteCode() {
  try {
    sessionStorage.removeItem(storageKey);
  } catch {
    // nothing was stored
  }
}
