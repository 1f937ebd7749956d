const memory = new Map<string, string>();

/** localStorage that cannot fail: what it refuses (private mode, full) lives in memory for this page. */
export const local = {
  get(key: string): string | null {
    const kept = memory.get(key);
    if (kept !== undefined) return kept;
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  },
  set(key: string, value: string) {
    try {
      localStorage.setItem(key, value);
      memory.delete(key);
    } catch {
      memory.set(key, value);
    }
  },
  remove(key: string) {
    memory.delete(key);
    try {
      localStorage.removeItem(key);
    } catch {
      // nothing is stored where nothing can be
    }
  },
  keys(prefix: string): string[] {
    const all = [...memory.keys()];
    try {
      for (let index = 0; index < localStorage.length; index++) all.push(localStorage.key(index) ?? '');
    } catch {
      // what is in memory is all there is
    }
    return all.filter((key) => key.startsWith(prefix));
  },
  /** Hears what other tabs change; a null key means everything was cleared. */
  onForeignChange(handler: (key: string | null) => void): () => void {
    const hear = (event: StorageEvent) => handler(event.key);
    window.addEventListener('storage', hear);
    return () => window.removeEventListener('storage', hear);
  },
};

/** JSON of a key; undefined if there is none or it is broken. */
export function readJson(key: string): unknown {
  const text = local.get(key);
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
