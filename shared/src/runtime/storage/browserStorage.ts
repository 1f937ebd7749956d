// What the browser keeps for this site, and what goes with it. A browser that blocks cookies refuses all of it, some where
// it is merely named, some where it is used; everyone gets it from here, where the page's memory takes its place.

/** Texts by key. What the browser refuses to keep (blocked, full) lives in memory for this page. */
export interface KeyValueStore {
  get(key: string): string | null;
  set(key: string, value: string): void;
  remove(key: string): void;
  keys(prefix: string): string[];
  /** Whether the text of a key lives in memory, for the browser refused it. */
  isRefused(key: string): boolean;
}

/** `area` is read each time, because naming it may throw. */
export function createKeyValueStore(area: () => Storage): KeyValueStore {
  const memory = new Map<string, string>();
  return {
    get(key) {
      const inMemory = memory.get(key);
      if (inMemory !== undefined) return inMemory;
      try {
        return area().getItem(key);
      } catch {
        return null;
      }
    },
    set(key, value) {
      try {
        area().setItem(key, value);
        memory.delete(key);
      } catch {
        memory.set(key, value);
      }
    },
    remove(key) {
      memory.delete(key);
      try {
        area().removeItem(key);
      } catch {
        // nothing is stored where nothing can be
      }
    },
    keys(prefix) {
      const all = [...memory.keys()];
      try {
        const stored = area();
        for (let index = 0; index < stored.length; index++) all.push(stored.key(index) ?? '');
      } catch {
        // what is in memory is all there is
      }
      return all.filter((key) => key.startsWith(prefix));
    },
    isRefused: (key) => memory.has(key),
  };
}

/** localStorage: for this browser. */
export const local = createKeyValueStore(() => localStorage);

/** sessionStorage: for this tab, across its documents. */
export const tab = createKeyValueStore(() => sessionStorage);

/** Subscribes to what other tabs change in `local`; a null key means everything was cleared. Returns the way to stop. */
export function onForeignChange(handler: (key: string | null) => void): () => void {
  const hear = (event: StorageEvent) => handler(event.key);
  window.addEventListener('storage', hear);
  return () => window.removeEventListener('storage', hear);
}

/** JSON of a key; undefined if it is missing or broken. */
export function readJson(key: string, store: KeyValueStore = local): unknown {
  const text = store.get(key);
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Subscribes to calls from this site's other tabs. Returns the way to call them, in vain where the browser refuses a channel. */
export function openChannel(name: string, onCall: () => void): () => void {
  let channel: BroadcastChannel | undefined;
  const tryTo = (act: () => void) => {
    try {
      act();
    } catch {
      // other tabs follow when they look again
    }
  };
  tryTo(() => {
    channel = new BroadcastChannel(name);
    channel.addEventListener('message', onCall);
  });
  return () => tryTo(() => channel?.postMessage('changed'));
}

/** Runs `work` while no other tab holds the lock; where there are no locks (http pages, cookies blocked) right away. */
export async function withLock(name: string, work: () => Promise<void>): Promise<void> {
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    return work();
  };
  try {
    await navigator.locks.request(name, begin);
  } catch (cause) {
    if (hasBegun) throw cause;
    await work();
  }
}
