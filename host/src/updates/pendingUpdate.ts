import { STORAGE_KEYS } from '@liaozhai/shared/contract';
import { readJson, reloadBlocks, tab } from '@liaozhai/shared/runtime';

/** A newer set that the next navigation loads. */
export function createPendingUpdate() {
  let liveSet: string | null = null;
  return {
    /** Sets the live set, if it is another one than this page's. */
    announce(set: string | null): void {
      liveSet = set;
    },
    /** Whether the next navigation must be a new document: a newer set is live, and there is no unsaved work. Records a yes as an attempt. */
    claim(): boolean {
      if (!liveSet || reloadBlocks().length > 0 || wasJustAttempted(liveSet)) return false;
      recordAttempt(liveSet);
      return true;
    },
  };
}

/** How long a cache in between may be outdated. */
const RETRY_AFTER_MS = 60_000;

/** Whether a new document was just requested for this goal and did not have it. */
export function wasJustAttempted(goal: string, now = Date.now()): boolean {
  const attempt = readJson(STORAGE_KEYS.update, tab) as { goal: string; at: number } | null | undefined;
  // a time in the future does not count: the clock has been set back since
  return attempt?.goal === goal && attempt.at <= now && now - attempt.at < RETRY_AFTER_MS;
}

/** Records that a new document is about to be requested. */
export const recordAttempt = (goal: string) => tab.set(STORAGE_KEYS.update, JSON.stringify({ goal, at: Date.now() }));
