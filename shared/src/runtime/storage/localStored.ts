/** localStorage that never throws: private windows and full disks fall back to the page's memory. */
const memory = new Map<string, string>();

export function readText(key: string): string | null {
  try {
    return localStorage.getItem(key) ?? memory.get(key) ?? null;
  } catch {
    return memory.get(key) ?? null;
  }
}

export function writeText(key: string, text: string) {
  memory.set(key, text);
  try {
    localStorage.setItem(key, text);
    memory.delete(key);
  } catch {
    // stays in memory
  }
}

export function removeText(key: string) {
  memory.delete(key);
  try {
    localStorage.removeItem(key);
  } catch {
    // nothing was stored
  }
}

/** Parsed JSON, or undefined for what is absent or broken. */
export function readJson(key: string): unknown {
  const text = readText(key);
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const writeJson = (key: string, value: unknown) => writeText(key, JSON.stringify(value));

/** Hears what other tabs write under a key. */
export function onOtherTabs(key: string, handler: () => void): () => void {
  const heard = (event: StorageEvent) => {
    if (event.key === key || event.key === null) handler();
  };
  window.addEventListener('storage', heard);
  return () => window.removeEventListener('storage', heard);
}
