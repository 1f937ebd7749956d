const storageKey = 'liaozhai-scroll';
const remembered = 60;

/** Scroll positions in pixels by screen, for coming back to it and for a reload of this tab. */
export interface ScrollMemory {
  read: (key: string) => number;
  write: (key: string, top: number) => void;
  /** Writes to the tab's storage; the page calls it when it is left. */
  save: () => void;
  /** Forgets all of them, in storage too. */
  clear: () => void;
}

function readStored(): [string, number][] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? '[]');
    return Array.isArray(stored) ? stored.filter(([key, top]) => typeof key === 'string' && Number.isFinite(top)) : [];
  } catch {
    // unreadable storage: every screen starts at its top
    return [];
  }
}

export function createScrollMemory(): ScrollMemory {
  const tops = new Map(readStored());
  return {
    read: (key) => tops.get(key) ?? 0,
    write(key, top) {
      tops.delete(key);
      tops.set(key, Math.round(top));
    },
    save() {
      try {
        sessionStorage.setItem(storageKey, JSON.stringify([...tops].slice(-remembered)));
      } catch {
        // a full storage costs the place after a reload, no more
      }
    },
    clear() {
      tops.clear();
      try {
        sessionStorage.removeItem(storageKey);
      } catch {
        // nothing was stored
      }
    },
  };
}
