const storageKey = 'liaozhai-invite';
const wellFormed = /^[\w-]{1,32}$/;

function remembered(): string | null {
  try {
    return sessionStorage.getItem(storageKey);
  } catch {
    return new URLSearchParams(location.search).get('invite');
  }
}

/** The code of the invite link (`/?invite=CODE`) that this tab came by; page.html keeps it before anyone can tap a link away from it. */
export function readInviteCode(): string | null {
  const code = remembered();
  return code && wellFormed.test(code) ? code : null;
}

export function forgetInviteCode() {
  try {
    sessionStorage.removeItem(storageKey);
  } catch {
    // nothing was stored
  }
}
