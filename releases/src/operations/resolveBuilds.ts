import { refused } from '../errors.ts';
import { buildIdParts, isName, isVersion, parseBuildId } from '../model/ids.ts';
import { claimedBy } from '../publish/publish.ts';
import type { Store } from '../store/store.ts';

async function resolveBuild(store: Store, word: string): Promise<string> {
  if (parseBuildId(word)) return word;
  const [name = '', version = ''] = word.split('@');
  if (!isName(name) || !isVersion(version)) return buildIdParts(word) && word;
  const id = await claimedBy(store, name, version);
  if (id) return id;
  throw refused(`${word} is not in ${store.label}`, `List what is there with \`builds ${name}\`, or publish it.`);
}

/** Full build ids of what a person typed: ids as they are, `stories@1.4.2` by its version. Throws usage or refused. */
export const resolveBuilds = (store: Store, words: readonly string[]): Promise<string[]> =>
  Promise.all(words.map((word) => resolveBuild(store, word)));
