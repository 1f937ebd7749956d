import { attempt, listenTo } from '../../format/browser';

// The browser's storage for this site. A browser that blocks cookies may throw where an API is named or where it is used; here
// the page's memory replaces it.

export type KeyValueStore = ReturnType<typeof createKeyValueStore>;

/**
 * Texts by key. What the browser refuses to store (blocked, full) is held in memory for this page. `getStorage` is called each
 * time, because access to the global may throw.
 */
export function createKeyValueStore(getStorage: () => Storage) {
  const memory = new Map<string, string>();
  return {
    get: (key: string): string | null => memory.get(key) ?? attempt(() => getStorage().getItem(key)) ?? null,
    set(key: string, value: string): void {
      try {
        getStorage().setItem(key, value);
        memory.delete(key);
      } catch {
        memory.set(key, value);
      }
    },
    remove(key: string): void {
      memory.delete(key);
      // storage that cannot be read holds nothing to remove
      attempt(() => getStorage().removeItem(key));
    },
    keys(prefix: string): string[] {
      const storedKeys = attempt(() => {
        const storage = getStorage();
        return Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '');
      });
      return [...memory.keys(), ...(storedKeys ?? [])].filter((key) => key.startsWith(prefix));
    },
    /** Whether the browser refused this key's text, so that only memory holds it. */
    isRefused: (key: string): boolean => memory.has(key),
  };
}

/** `localStorage`, with memory as the fallback. */
export const local = createKeyValueStore(() => localStorage);

/** `sessionStorage`, with memory as the fallback. */
export const tab = createKeyValueStore(() => sessionStorage);

/**
 * Subscribes to changes of `local` by other tabs. A null key means that all was cleared. Undefined means that any may have changed:
 * the page returns from the back/forward cache, where no event of another tab arrives. Returns the unsubscribe function.
 */
export const onForeignChange = (handler: (key: string | null | undefined) => void): (() => void) =>
  listenTo(
    window,
    ['storage', 'pageshow'],
    ({ key, persisted }: Partial<PageTransitionEvent & StorageEvent> & Event) => {
      if (persisted !== false) handler(key);
    },
  );

/** Returns the parsed JSON of a key; undefined if it is missing or invalid. */
export function readJson(key: string, store: KeyValueStore = local): unknown {
  const text = store.get(key);
  return text === null ? undefined : attempt(() => JSON.parse(text));
}

/** Subscribes to notifications of other tabs. Returns the function that sends one, if the browser has `BroadcastChannel`. */
export function openChannel(name: string, onCall: () => void): () => void {
  const channel = attempt(() => {
    onForeignChange((key) => key === undefined && onCall());
    return new BroadcastChannel(name);
  });
  channel?.addEventListener('message', onCall);
  // on failure, other tabs update when they next read storage
  return () => attempt(() => channel?.postMessage('changed'));
}

/** A suspended page holds its locks, and Safari's also after a navigation: then two tabs work side by side. */
const LOCK_TIMEOUT_MS = 20_000;

/**
 * Runs `work` while no other tab holds the lock; immediately where locks are missing (http pages, blocked cookies), and after 20 s
 * where the lock is not released.
 */
export async function withLock(name: string, work: () => Promise<void>): Promise<void> {
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    return work();
  };
  try {
    await navigator.locks.request(name, { signal: AbortSignal.timeout(LOCK_TIMEOUT_MS) }, begin);
  } catch (cause) {
    if (hasBegun) throw cause;
    await work();
  }
}
