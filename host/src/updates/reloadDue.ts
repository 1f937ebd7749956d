import { reloadHolds } from '@liaozhai/shared/runtime';

const storageKey = 'liaozhai-update';
const patienceMs = 60_000;

let waitingFor: string | null = null;

interface Attempt {
  goal: string;
  at: number;
}

function lastAttempt(): Attempt | null {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Attempt | null;
  } catch {
    // unreadable storage: as if never tried
    return null;
  }
}

/** Whether a new document was asked for this goal just now and did not bring it: a cache on the way is behind. */
export function wasJustTried(goal: string, now = Date.now()): boolean {
  const last = lastAttempt();
  return last?.goal === goal && now - last.at < patienceMs;
}

/** Notes that a new document is about to be asked for. */
export function noteAttempt(goal: string, now = Date.now()) {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify({ goal, at: now } satisfies Attempt));
  } catch {
    // the worst is one more reload
  }
}

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
