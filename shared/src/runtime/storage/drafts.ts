import { createEmitter } from '../emitter';
import { STORAGE_KEYS } from './keys';
import { onOtherTabs, readJson, removeText, writeJson } from './localStored';
import { ANONYMOUS, currentOwner } from './owner';

type Stored = Record<string, string>;

const flushAfterMs = 200;
const changed = createEmitter<string>();
const pending = new Map<string, string>();
let timer: ReturnType<typeof setTimeout> | undefined;

const read = (): Stored => {
  const stored = readJson(STORAGE_KEYS.drafts);
  return typeof stored === 'object' && stored !== null ? (stored as Stored) : {};
};
const ownKey = (key: string, owner = currentOwner()) => `${owner}\n${key}`;

function flush() {
  clearTimeout(timer);
  timer = undefined;
  if (pending.size === 0) return;
  const all = read();
  for (const [key, text] of pending) {
    if (text === '') delete all[key];
    else all[key] = text;
  }
  pending.clear();
  writeJson(STORAGE_KEYS.drafts, all);
}

/** Unsent words per conversation, kept on the device within 200 ms and at `pagehide`; other tabs follow. */
export const drafts = {
  read: (key: string): string => pending.get(ownKey(key)) ?? read()[ownKey(key)] ?? '',
  write(key: string, text: string) {
    pending.set(ownKey(key), text);
    timer ??= setTimeout(flush, flushAfterMs);
    changed.emit(key);
  },
  flush,
  /** Hears what other tabs and other places of this page write under the key. */
  subscribe: (key: string, handler: (text: string) => void) => {
    const stop = changed.on((other) => other === key && handler(drafts.read(key)));
    const stopTabs = onOtherTabs(STORAGE_KEYS.drafts, () => handler(drafts.read(key)));
    return () => {
      stop();
      stopTabs();
    };
  },
};

/** What an anonymous visitor wrote belongs to whoever signs in. */
export function adoptDrafts(owner: string) {
  flush();
  const all = Object.entries(read()).map(([key, text]): [string, string] =>
    key.startsWith(`${ANONYMOUS}\n`) ? [ownKey(key.slice(ANONYMOUS.length + 1), owner), text] : [key, text],
  );
  writeJson(STORAGE_KEYS.drafts, Object.fromEntries(all));
}

/** Deletes every draft that is not the given owner's. */
export function purgeDrafts(keep?: string) {
  flush();
  const kept = Object.entries(read()).filter(([key]) => keep !== undefined && key.startsWith(`${keep}\n`));
  if (kept.length === 0) removeText(STORAGE_KEYS.drafts);
  else writeJson(STORAGE_KEYS.drafts, Object.fromEntries(kept));
}

window.addEventListener('pagehide', flush);
document.addEventListener('visibilitychange', () => document.visibilityState === 'hidden' && flush());
