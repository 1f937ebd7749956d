import { PENDING_LOG, STORAGE_KEYS } from '../../contract';
import { createCell, createSignal } from '../signal';
import { local, onForeignChange, readJson } from './browserStorage';
import { currentOwner, onOwnerChanged } from './owner';

const SAVE_AFTER_MS = 200;

const keyOf = (owner: string, conversationKey: string) => `${STORAGE_KEYS.draft}:${owner}:${conversationKey}`;

/** typed but not yet saved, by storage key */
const unsaved = new Map<string, string>();
const refused = createSignal();
/** Subscribes to drafts that the browser stores nowhere: they last as long as the page. Returns the way to stop. */
export const onDraftRefused = refused.on;
/** a storage key whose draft changed elsewhere; null is all of them */
const changed = createSignal<[key: string | null]>();
const timer = createCell<ReturnType<typeof setTimeout> | undefined>(undefined);

function save() {
  clearTimeout(timer.current());
  timer.set(undefined);
  for (const [key, text] of unsaved) text === '' ? local.remove(key) : local.set(key, text);
  if ([...unsaved.keys()].some(local.isRefused)) refused.emit();
  unsaved.clear();
}

/**
 * What was typed and not sent, per conversation. Saved when the page is hidden, and 200 ms after the first unsaved key, so that
 * unbroken typing is saved as well. One timer serves many keys.
 */
export const drafts = {
  read(conversationKey: string): string {
    const key = keyOf(currentOwner(), conversationKey);
    return unsaved.get(key) ?? local.get(key) ?? '';
  },
  write(conversationKey: string, text: string) {
    unsaved.set(keyOf(currentOwner(), conversationKey), text);
    if (timer.current() === undefined) timer.set(setTimeout(save, SAVE_AFTER_MS));
  },
  flush: save,
  /** Subscribes to changes made elsewhere: in other tabs, or by a change of user. Returns the way to stop. */
  subscribe(conversationKey: string, listener: (text: string) => void): () => void {
    return changed.on((key) => {
      if (key === null || key === keyOf(currentOwner(), conversationKey)) listener(drafts.read(conversationKey));
    });
  },
};

export function purgeDrafts(owner: string) {
  const prefix = keyOf(owner, '');
  for (const key of unsaved.keys()) if (key.startsWith(prefix)) unsaved.delete(key);
  for (const key of local.keys(prefix)) local.remove(key);
}

/**
 * Hands drafts to another owner; on a conversation that has one already, the newly written wins. Of messages that the outbox does
 * not have yet both owners' are kept, the other's first.
 */
export function adoptDrafts(from: string, to: string) {
  save();
  const prefix = keyOf(from, '');
  for (const key of local.keys(prefix)) {
    const target = keyOf(to, key.slice(prefix.length));
    const text = key === keyOf(from, PENDING_LOG) ? joinedLists(target, key) : local.get(key);
    if (text) local.set(target, text);
    local.remove(key);
  }
}

const joinedLists = (...keys: string[]): string =>
  JSON.stringify(keys.flatMap((key) => readJson(key)).filter((each) => each !== undefined));

/** Drops what is typed but not saved, without saving it. */
export function dropUnsavedDrafts() {
  unsaved.clear();
  save();
}

onOwnerChanged(() => changed.emit(null));

if (typeof window !== 'undefined') {
  onForeignChange((key) => {
    if (key !== null) unsaved.delete(key);
    changed.emit(key);
  });
  window.addEventListener('pagehide', save);
  document.addEventListener('visibilitychange', () => document.visibilityState === 'hidden' && save());
}
