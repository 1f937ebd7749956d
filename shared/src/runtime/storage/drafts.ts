import { STORAGE_KEYS } from '../../contract';
import { createCell, createSignal } from '../signal';
import { local, onForeignChange } from './browserStorage';
import { currentOwner, onOwnerChanged } from './owner';

const SAVE_AFTER_MS = 200;

const keyOf = (owner: string, conversationKey: string) => `${STORAGE_KEYS.draft}:${owner}:${conversationKey}`;

/** typed but not saved, by storage key */
const unsavedTexts = new Map<string, string>();
const draftRefused = createSignal();
/** Subscribes to drafts that the browser could not store: they last as long as the page. Returns the unsubscribe function. */
export const onDraftRefused = draftRefused.on;
/** storage key of a draft that changed outside this page; null means all of them */
const draftChanged = createSignal<[key: string | null]>();
const saveTimer = createCell<ReturnType<typeof setTimeout> | undefined>(undefined);

function save() {
  clearTimeout(saveTimer.current());
  saveTimer.set(undefined);
  for (const [key, text] of unsavedTexts) text === '' ? local.remove(key) : local.set(key, text);
  if ([...unsavedTexts.keys()].some(local.isRefused)) draftRefused.emit();
  unsavedTexts.clear();
}

/**
 * Unsent text per conversation. Saved on `pagehide` and 200 ms after the first unsaved key, so that continuous typing is saved
 * too. One timer serves all keys.
 */
export const drafts = {
  read(conversationKey: string): string {
    const key = keyOf(currentOwner(), conversationKey);
    return unsavedTexts.get(key) ?? local.get(key) ?? '';
  },
  write(conversationKey: string, text: string) {
    unsavedTexts.set(keyOf(currentOwner(), conversationKey), text);
    if (saveTimer.current() === undefined) saveTimer.set(setTimeout(save, SAVE_AFTER_MS));
  },
  flush: save,
  /** Subscribes to changes from other tabs and to changes of the user. Returns the unsubscribe function. */
  subscribe(conversationKey: string, listener: (text: string) => void): () => void {
    return draftChanged.on((key) => {
      if (key === null || key === keyOf(currentOwner(), conversationKey)) listener(drafts.read(conversationKey));
    });
  },
};

export function purgeDrafts(owner: string) {
  const prefix = keyOf(owner, '');
  for (const key of unsavedTexts.keys()) if (key.startsWith(prefix)) unsavedTexts.delete(key);
  for (const key of local.keys(prefix)) local.remove(key);
}

/** Moves drafts to another owner, whose own drafts of the same conversations are overwritten. */
export function adoptDrafts(from: string, to: string) {
  save();
  const prefix = keyOf(from, '');
  for (const key of local.keys(prefix)) {
    const text = local.get(key);
    if (text) local.set(keyOf(to, key.slice(prefix.length)), text);
    local.remove(key);
  }
}

onOwnerChanged(() => draftChanged.emit(null));

onForeignChange((key) => {
  if (key) unsavedTexts.delete(key);
  draftChanged.emit(key ?? null);
});
window.addEventListener('pagehide', save);
document.addEventListener('visibilitychange', () => document.visibilityState === 'hidden' && save());
