import { readJson, STORAGE_KEYS, tab } from '@liaozhai/shared/runtime';

export interface Departure {
  /** Whether to go by a new document: a newer set wants one, or one is on its way and a later tap is to win over it. */
  isDue: () => boolean;
  to: (action: 'PUSH' | 'REPLACE', path: string, index: number) => void;
  dispose: () => void;
}

/** The way out of this document into the next one of the app. */
export function createDeparture(wantsDocument: () => boolean): Departure {
  let leaving = false;
  // the browser may keep this document and show it again
  const onPageHide = () => {
    leaving = false;
  };
  window.addEventListener('pagehide', onPageHide);
  return {
    isDue() {
      leaving ||= wantsDocument();
      return leaving;
    },
    to(action, path, index) {
      tab.set(STORAGE_KEYS.arrival, JSON.stringify({ path, index }));
      if (action === 'PUSH') location.assign(path);
      else location.replace(path);
    },
    dispose: () => window.removeEventListener('pagehide', onPageHide),
  };
}

/** How deep in the app's history this document was opened, as the one before it told: 0 if it was opened from elsewhere. */
export function takeArrivalIndex(): number {
  const told = readJson(STORAGE_KEYS.arrival, tab) as { path: string; index: number } | null | undefined;
  tab.remove(STORAGE_KEYS.arrival);
  return told?.path === location.pathname + location.search + location.hash ? told.index : 0;
}
