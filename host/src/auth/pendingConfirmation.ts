import { local, STORAGE_KEYS } from '@liaozhai/shared/runtime';

/** Remembers that this browser registered with an address it has yet to confirm: its session then comes to life. */
export const rememberPendingConfirmation = () => local.set(STORAGE_KEYS.confirming, '1');

/** Whether this browser was waiting for the confirmation; asks once. */
export function takePendingConfirmation(): boolean {
  const pending = local.get(STORAGE_KEYS.confirming) !== null;
  local.remove(STORAGE_KEYS.confirming);
  return pending;
}
