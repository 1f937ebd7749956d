import { readJson, reloadHolds, STORAGE_KEYS, tab } from '@liaozhai/shared/runtime';

const patienceMs = 60_000;

let waitingFor: string | null = null;

interface Attempt {
  goal: string;
  at: number;
}

const lastAttempt = () => readJson(STORAGE_KEYS.update, tab) as Attempt | null | undefined;

/** Whether a new document was asked for this goal just now and did not bring it: a cache on the way is behind. */
export function wasJustTried(goal: string, now = Date.now()): boolean {
  const last = lastAttempt();
  return last?.goal === goal && now - last.at < patienceMs;
}

/** Notes that a new document is about to be asked for. */
export const noteAttempt = (goal: string, now = Date.now()) =>
  tab.set(STORAGE_KEYS.update, JSON.stringify({ goal, at: now } satisfies Attempt));

/** The set that the next navigation is to bring, if another one than this page's is live. */
export function awaitSet(set: string | null) {
  waitingFor = set;
}

/** Whether the next navigation is to be a new document: a newer set is live and nobody has unsaved work. A yes is noted as an attempt. */
export function takeReloadDue(): boolean {
  if (!waitingFor || reloadHolds().length > 0 || wasJustTried(waitingFor)) return false;
  noteAttempt(waitingFor);
  return true;
}
