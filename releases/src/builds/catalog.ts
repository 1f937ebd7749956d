import type { SetBody } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { nullIfRefused, ReleaseError, refused } from '../errors.ts';
import {
  type BuildRecord,
  buildFolder,
  buildIdParts,
  buildWordParts,
  idOfFolder,
  nameOf,
  type Provenance,
  parseBuildId,
  parseRecord,
  parseSet,
  truncatedText,
} from '../model/build.ts';
import { parseDocument } from '../model/documents.ts';
import { say } from '../sentences.ts';
import { cached, namesBelow, type Store } from '../store/store.ts';

/** Reads and caches builds and sets. Both are named by a hash, so they never change. */
export class Catalog {
  readonly #records = new Map<string, Promise<BuildRecord>>();
  readonly #sets = new Map<string, Promise<SetBody>>();

  constructor(readonly store: Store) {}

  /** Throws refused if the build does not exist or is not the one with this digest. */
  async record(id: string, digest?: string): Promise<BuildRecord> {
    const record = await cached(this.#records, id, () => readRecord(this.store, id));
    if (digest && record.digest !== digest) throw refused(say('otherBuild', { build: id }), say('rollBackCure'));
    return record;
  }

  records(ids: readonly string[], digests: Readonly<Record<string, string>> = {}): Promise<BuildRecord[]> {
    return Promise.all(ids.map((id) => this.record(id, digests[id])));
  }

  /** Throws refused if the set is missing or was changed. */
  set(hash: string): Promise<SetBody> {
    return cached(this.#sets, hash, async () => {
      const source = await this.store.read(`sets/${hash}.json`);
      if (!source) throw refused(say('setMissing', { hash, store: this.store.label }), say('otherStateCure'));
      return parseSet(source.toString('utf8'), hash);
    });
  }
}

export const claimKey = (name: string, version: string): string => `versions/${name}/${version}.json`;

const claimSchema = v.object({
  id: v.string(),
  at: v.optional(v.string(), ''),
  publisher: v.optional(truncatedText(120), ''),
});

/** Owner of a version: build id, time and publisher. Readable even if the build itself is damaged. */
export type Claim = v.InferOutput<typeof claimSchema>;

/** Reads the claim of a version, or null. Throws refused if it is damaged. */
export async function readClaim(store: Store, name: string, version: string): Promise<Claim | null> {
  const source = await store.read(claimKey(name, version));
  if (!source) return null;
  const what = say('theClaim', { claim: `${name}/${version}.json`, store: store.label });
  return parseDocument(claimSchema, source.toString('utf8'), what, say('claimCure'));
}

/** The id that holds this version, or null. */
export async function claimedBy(store: Store, name: string, version: string): Promise<string | null> {
  return (await readClaim(store, name, version))?.id ?? null;
}

export async function isPublished(store: Store, id: string): Promise<boolean> {
  const { name, version } = buildIdParts(id);
  return (await claimedBy(store, name, version)) === id;
}

/** Reads a build's record. Throws refused if it does not exist or is damaged. A damaged claim takes no build from visitors. */
export async function readRecord(store: Store, id: string): Promise<BuildRecord> {
  const source = await store.read(`${buildFolder(id)}/build.json`);
  if (!source || (await isPublished(store, id).catch(nullIfRefused)) === false)
    throw refused(
      say('notPublished', { build: id, store: store.label }),
      say('notPublishedCure', { name: nameOf(id) }),
    );
  return parseRecord(source.toString('utf8'), id);
}

/** Throws refused unless these builds still exist. Reads the store, not a cache. */
export async function assertPublished(store: Store, ids: readonly string[]): Promise<void> {
  const flags = await Promise.all(ids.map((id) => isPublished(store, id)));
  const missing = ids.filter((_, n) => !flags[n]);
  if (missing.length > 0)
    throw refused(say('goneMeanwhile', { builds: missing.join(', '), store: store.label }), say('goneMeanwhileCure'));
}

/** Finds the owner of a version whose claim is damaged, by the name of its folder. */
async function idByFolder(store: Store, name: string, version: string): Promise<string | undefined> {
  const ids = (await namesBelow(store, `builds/${name}/`)).map((folder) => idOfFolder(name, folder) ?? '');
  return ids.find((id) => parseBuildId(id)?.version === version);
}

/** Ids of every published build, of all names or one, sorted by key. Those with a damaged claim are included. */
export async function publishedIds(store: Store, name?: string): Promise<string[]> {
  const ids: string[] = [];
  for (const each of name ? [name] : await namesBelow(store, 'versions/'))
    for (const version of await namesBelow(store, `versions/${each}/`)) {
      const claim = await readClaim(store, each, version).catch(nullIfRefused);
      const id = claim?.id ?? (await idByFolder(store, each, version));
      if (id) ids.push(id);
    }
  return ids;
}

export const noRemote = (name: string, names: readonly string[]) =>
  refused(say('noRemote', { text: name }), say('noRemoteCure', { names: names.join(', ') }));

/** For a refusal about a name: throws refused if the name itself is wrong, because nothing of it was published. */
export async function assertRemote(store: Store, name?: string): Promise<void> {
  if (!name) return;
  const names = await namesBelow(store, 'versions/');
  if (names.length > 0 && !names.includes(name)) throw noRemote(name, names);
}

async function resolveBuild(store: Store, word: string): Promise<string> {
  if (parseBuildId(word)) return word;
  const { name, version } = buildWordParts(word);
  const id = await claimedBy(store, name, version);
  if (id) return id;
  throw refused(say('notPublished', { build: word, store: store.label }), say('notPublishedCure', { name }));
}

/**
 * Resolves build ids and words such as `stories@1.4.2` to full build ids, without duplicates. Throws usage, or refused for two builds
 * of one name.
 */
export async function resolveBuilds(store: Store, words: readonly string[]): Promise<string[]> {
  const ids = [...new Set(await Promise.all(words.map((word) => resolveBuild(store, word))))];
  for (const [at, other] of ids.entries()) {
    const one = ids.slice(0, at).find((id) => nameOf(id) === nameOf(other));
    if (one) throw refused(say('twoBuilds', { one, other }), say('twoBuildsCure'));
  }
  return ids;
}

export interface BuildSummary {
  id: string;
  label: string;
  kind: 'host' | 'remote';
  bytes: number;
  files: number;
  provenance: Provenance;
  /** Set if the record is damaged, so that the build cannot run. */
  problem?: string;
}

const summaryOf = ({ id, description: { label, kind }, files, provenance }: BuildRecord): BuildSummary => {
  const sizes = Object.values(files).map(({ size }) => size);
  return { id, label, kind, bytes: sizes.reduce((sum, size) => sum + size, 0), files: sizes.length, provenance };
};

async function damagedSummary(store: Store, id: string, problem: string): Promise<BuildSummary> {
  const { name, version } = buildIdParts(id);
  const { at = '', publisher = '' } = (await readClaim(store, name, version).catch(nullIfRefused)) ?? {};
  const kind = name === 'host' ? 'host' : 'remote';
  return { id, label: name, kind, bytes: 0, files: 0, provenance: { commit: null, at, publisher }, problem };
}

/** Lists every published build, newest first. A damaged build is included, with `problem`. */
export async function listBuilds(catalog: Catalog, name?: string): Promise<BuildSummary[]> {
  const ids = await publishedIds(catalog.store, name);
  const summarise = async (id: string): Promise<BuildSummary> => {
    try {
      // a damaged claim is reported here: no change would accept the build
      await isPublished(catalog.store, id);
      return summaryOf(await catalog.record(id));
    } catch (cause) {
      if (!(cause instanceof ReleaseError && cause.kind === 'refused')) throw cause;
      return damagedSummary(catalog.store, id, cause.message);
    }
  };
  const summaries = await Promise.all(ids.map(summarise));
  return summaries.sort((a, b) => (a.provenance.at < b.provenance.at ? 1 : -1));
}
