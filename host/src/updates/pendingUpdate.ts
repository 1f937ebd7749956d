import { STORAGE_KEYS } from '@liaozhai/shared/contract';
import { readJson, reloadBlocks, tab } from '@liaozhai/shared/runtime';

/** A newer set that waits for the next navigation to bring it. */
export interface PendingUpdate {
  /** The set that the next navigation is to bring, if another one than this page's is live. */
  announce(set: string | null): void;
  /** Whether the next navigation is to be a new document: a newer set is live and nobody has unsaved work. A yes is noted as an attempt. */
  take(): boolean;
}

export function createPendingUpdate(): PendingUpdate {
  let awaited: string | null = null;
  return {
    announce(set) {
      awaited = set;
    },
    take() {
      if (!awaited || reloadBlocks().length > 0 || wasJustTried(awaited)) return false;
      noteAttempt(awaited);
      return true;
    },
  };
}

/** A cache on the way may be behind for as long. */
const RETRY_AFTER_MS = 60_000;

interface Attempt {
  goal: string;
  at: number;
}

const lastAttempt = () => readJson(STORAGE_KEYS.update, tab) as Attempt | null | undefined;

/** Whether a new document was asked for this goal just now and did not bring it. */
export function wasJustTried(goal: string, now = Date.now()): boolean {
  const last = lastAttempt();
  // what lies ahead was noted by a clock that has been put back since
  return last?.goal === goal && last.at <= now && now - last.at < RETRY_AFTER_MS;
}

/** Notes that a new document is about to be asked for. */
export const noteAttempt = (goal: string) =>
  tab.set(STORAGE_KEYS.update, JSON.stringify({ goal, at: Date.now() } satisfies Attempt));
