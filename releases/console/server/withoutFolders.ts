import { homedir, tmpdir } from 'node:os';
import type { Store } from '../../src/store/store.ts';

const HIDDEN = 'the store';

/** A path ends where a sentence goes on. */
const pathsBelow = (folder: string): RegExp =>
  new RegExp(`(?:file:(?://)?)?${folder.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?:/[^\\s'",;:)]*)?(?![\\w-])`, 'g');

/** What is refused over HTTP, without the places of this machine: those who may look at a channel need not know them. */
export function withoutFolders(text: string, { label }: Pick<Store, 'label'>): string {
  const own = label.startsWith('file:') ? label.slice('file:'.length) : '';
  const folders = [own, process.cwd(), tmpdir(), homedir()].filter((folder) => folder.length > 1);
  const hidden = text.replaceAll(label, HIDDEN);
  return folders.reduce((shown, folder) => shown.replace(pathsBelow(folder), HIDDEN), hidden);
}
