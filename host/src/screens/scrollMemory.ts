import { readJson, STORAGE_KEYS, tab } from '@liaozhai/shared/runtime';

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
  const stored = readJson(STORAGE_KEYS.scroll, tab);
  if (!Array.isArray(stored)) return [];
  return stored.filter((row) => Array.isArray(row) && typeof row[0] === 'string' && Number.isFinite(row[1]));
}

export function createScrollMemory(): ScrollMemory {
  const tops = new Map(readStored());
  return {
    read: (key) => tops.get(key) ?? 0,
    write(key, top) {
      tops.delete(key);
      tops.set(key, Math.round(top));
    },
    save: () => tab.set(STORAGE_KEYS.scroll, JSON.stringify([...tops].slice(-remembered))),
    clear() {
      tops.clear();
      tab.remove(STORAGE_KEYS.scroll);
    },
  };
}
