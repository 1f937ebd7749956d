import { homedir, tmpdir } from 'node:os';
import type { Store } from '../../src/store/store.ts';

const PLACEHOLDER = 'the store';

/** Matches the folder and a path below it, up to punctuation that continues the sentence. */
const pathsBelow = (folder: string): RegExp =>
  new RegExp(`(?:file:(?://)?)?${folder.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?:/[^\\s'",;:)]*)?(?![\\w-])`, 'g');

/** Removes local paths from text sent over HTTP: callers need not know the folders of this machine. */
export function withoutFolders(text: string, { label }: Pick<Store, 'label'>): string {
  const storeFolder = label.startsWith('file:') ? label.slice('file:'.length) : '';
  const folders = [storeFolder, process.cwd(), tmpdir(), homedir()].filter((folder) => folder.length > 1);
  const textWithoutLabel = text.replaceAll(label, PLACEHOLDER);
  return folders.reduce((shown, folder) => shown.replace(pathsBelow(folder), PLACEHOLDER), textWithoutLabel);
}
