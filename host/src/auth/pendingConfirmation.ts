const storageKey = 'liaozhai-confirming';

/** Remembers that this browser registered with an address it has yet to confirm: its session then comes to life. */
export function rememberPendingConfirmation() {
  try {
    localStorage.setItem(storageKey, '1');
  } catch {
    // the visitor signs in by hand after confirming
  }
}

/** Whether this browser was waiting for the confirmation; asks once. */
export function takePendingConfirmation(): boolean {
  try {
    const pending = localStorage.getItem(storageKey) !== null;
    localStorage.removeItem(storageKey);
    return pending;
  } catch {
    return false;
  }
}
