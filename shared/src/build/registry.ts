import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A remote of this repository, from `remotes.json`. */
export interface RegisteredRemote {
  name: string;
  label: string;
  owner: string;
  devPort: number;
}

/** The name is used in a JavaScript variable, a folder, a package and a path. */
export const REMOTE_NAME = /^[a-z][a-z0-9]{1,23}$/;

const isText = (value: unknown) => typeof value === 'string' && value.trim() !== '';

/** Each field with its check and the rule to report. */
const fields: [keyof RegisteredRemote, (value: unknown) => boolean, string][] = [
  [
    'name',
    (value) => typeof value === 'string' && REMOTE_NAME.test(value),
    '2 to 24 small letters and digits, a letter first',
  ],
  ['label', isText, 'a text'],
  ['owner', isText, 'a text'],
  ['devPort', (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536, 'a port'],
];

const registryError = (problem: string) =>
  new Error(`remotes.json: ${problem}: correct it, or take it from the last commit`);

/** Reads the remotes of the repository in `root` from `remotes.json`. Throws an `Error` that names the invalid field and its rule. */
export function registeredRemotes(root: string): RegisteredRemote[] {
  let list: unknown;
  try {
    list = JSON.parse(readFileSync(join(root, 'remotes.json'), 'utf8'));
  } catch (cause) {
    throw registryError((cause as Error).message.replace(/\s+/g, ' '));
  }
  if (!Array.isArray(list)) throw registryError('it must be a list of remotes');
  list.forEach((entry, index) => {
    for (const [field, isValid, rule] of fields)
      if (!isValid(entry?.[field])) throw registryError(`${index}.${field} must be ${rule}`);
    if (list.findIndex((other) => other?.name === entry.name) < index)
      throw registryError(`"${entry.name}" is there twice`);
  });
  return list;
}
