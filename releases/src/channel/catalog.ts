import { refused } from '../errors.ts';
import type { BuildRecord } from '../model/build.ts';
import { nameOf } from '../model/ids.ts';
import { parseSet, type SetBody } from '../model/set.ts';
import { readRecord } from '../publish/publish.ts';
import type { Store } from '../store/store.ts';

/** Reads builds and sets, each once: what has a hash never changes. */
export class Catalog {
  readonly store: Store;
  readonly #records = new Map<string, Promise<BuildRecord>>();
  readonly #sets = new Map<string, Promise<SetBody>>();

  constructor(store: Store) {
    this.store = store;
  }

  /** Throws refused if the build does not exist or is not the one with this digest. */
  async record(id: string, digest?: string): Promise<BuildRecord> {
    const record = await this.#remember(this.#records, id, () => readRecord(this.store, id));
    if (digest && record.digest !== digest)
      throw refused(`${id} is not the build the channel was signed with`, 'Roll back.');
    return record;
  }

  records(ids: readonly string[]): Promise<BuildRecord[]> {
    return Promise.all(ids.map((id) => this.record(id)));
  }

  /** Throws refused if the set is missing or was changed. */
  set(hash: string): Promise<SetBody> {
    return this.#remember(this.#sets, hash, async () => {
      const source = await this.store.read(`sets/${hash}.json`);
      if (!source) throw refused(`set ${hash} is missing from ${this.store.label}`, 'Roll back to another state.');
      return parseSet(source.toString('utf8'), hash);
    });
  }

  async #remember<Value>(known: Map<string, Promise<Value>>, key: string, read: () => Promise<Value>): Promise<Value> {
    const promise = known.get(key) ?? read();
    known.set(key, promise);
    try {
      return await promise;
    } catch (cause) {
      known.delete(key);
      throw cause;
    }
  }
}

/** The builds with others of the same names put over them, ordered. */
export function putOver(builds: readonly string[], over: readonly string[]): string[] {
  const byName = new Map([...builds, ...over].map((id) => [nameOf(id), id]));
  return [...byName.values()].sort();
}
