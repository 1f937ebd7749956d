const storageKey = 'liaozhai-arrival';

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
      try {
        sessionStorage.setItem(storageKey, JSON.stringify({ path, index }));
      } catch {
        // without it the arrow of the next page leads to its fallback
      }
      if (action === 'PUSH') location.assign(path);
      else location.replace(path);
    },
    dispose: () => window.removeEventListener('pagehide', onPageHide),
  };
}

/** How deep in the app's history this document was opened, as the one before it told: 0 if it was opened from elsewhere. */
export function takeArrivalIndex(): number {
  try {
    const told = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as { path: string; index: number } | null;
    sessionStorage.removeItem(storageKey);
    return told?.path === location.pathname + location.search + location.hash ? told.index : 0;
  } catch {
    // unreadable storage: as if opened from elsewhere
    return 0;
  }
}
