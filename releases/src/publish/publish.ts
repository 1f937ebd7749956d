import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { refused } from '../errors.ts';
import { type BuildRecord, makeRecord, type Provenance, parseRecord } from '../model/build.ts';
import { canonicalJson } from '../model/canonicalJson.ts';
import { sha384Integrity } from '../model/hashing.ts';
import { buildFolder, buildIdParts } from '../model/ids.ts';
import type { Store } from '../store/store.ts';
import { contentType, isCompressed } from './contentType.ts';
import type { BuiltPackage } from './readPackage.ts';

const PARALLEL_WRITES = 8;
/** Beyond this, the last percent of compression costs seconds. */
const BEST_BROTLI_BYTES = 1024 * 1024;
const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

export interface Published {
  id: string;
  record: BuildRecord;
  /** False: exactly these bytes had this version already. */
  created: boolean;
}

export const claimKey = (name: string, version: string): string => `versions/${name}/${version}.json`;

/** The record of a package as it would be stored. */
export function recordOf({ description, files }: BuiltPackage, provenance: Provenance): BuildRecord {
  const entries = [...files].map(([path, body]) => [path, { integrity: sha384Integrity(body), size: body.length }]);
  return makeRecord(description, Object.fromEntries(entries), provenance);
}

/** Who holds a version since when: known even where the build itself is damaged. */
export interface Claim {
  id: string;
  at: string;
  publisher: string;
}

/** What is recorded of this version, or null. */
export async function readClaim(store: Store, name: string, version: string): Promise<Claim | null> {
  const source = await store.read(claimKey(name, version));
  if (!source) return null;
  const { id, at, publisher } = JSON.parse(source.toString('utf8'));
  return { id: String(id), at: String(at), publisher: String(publisher).slice(0, 120) };
}

/** The id that holds this version, or null. */
export async function claimedBy(store: Store, name: string, version: string): Promise<string | null> {
  return (await readClaim(store, name, version))?.id ?? null;
}

/** Claims the record's version for it. Throws refused if other bytes have it. */
export async function claimVersion(store: Store, record: BuildRecord): Promise<boolean> {
  const { name, version } = buildIdParts(record.id);
  const { at, publisher } = record.provenance;
  if (await store.create(claimKey(name, version), canonicalJson({ id: record.id, at, publisher }))) return true;
  const holder = await claimedBy(store, name, version);
  if (holder === record.id) return false;
  throw refused(
    `${name} ${version} is taken by ${holder}, which has other bytes`,
    'Raise the version in package.json, or publish with --version.',
  );
}

/** Writes one file of a build, with its compressed forms. */
export async function writeFile(store: Store, key: string, body: Buffer): Promise<void> {
  const type = contentType(key) ?? 'application/octet-stream';
  await store.create(key, body, { contentType: type });
  if (!isCompressed(key)) return;
  const quality = body.length > BEST_BROTLI_BYTES ? 9 : 11;
  const best = {
    params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length, [constants.BROTLI_PARAM_QUALITY]: quality },
  };
  await store.create(`${key}.br`, await brotli(body, best), { contentType: type, contentEncoding: 'br' });
  await store.create(`${key}.gz`, await gzipped(body, { level: 9 }), { contentType: type, contentEncoding: 'gzip' });
}

/**
 * Stores a package: its files, then `build.json`, then the version's claim, so that a crash leaves nothing that counts as a
 * build and publishing again finishes the work. The same bytes again do nothing. Throws refused if the version is taken.
 */
export async function publish(store: Store, built: BuiltPackage, provenance: Provenance): Promise<Published> {
  const record = recordOf(built, provenance);
  const { name, version } = buildIdParts(record.id);
  if ((await claimedBy(store, name, version)) === record.id) return { id: record.id, record, created: false };
  const folder = buildFolder(record.id);
  const waiting = [...built.files];
  const write = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      await writeFile(store, `${folder}/${next[0]}`, next[1]);
  };
  await Promise.all(Array.from({ length: PARALLEL_WRITES }, write));
  await store.create(`${folder}/build.json`, canonicalJson(record));
  return { id: record.id, record, created: await claimVersion(store, record) };
}

/** Reads what is stored of a build. Throws refused if it does not exist or is damaged. */
export async function readRecord(store: Store, id: string): Promise<BuildRecord> {
  const { name, version } = buildIdParts(id);
  const source = await store.read(`${buildFolder(id)}/build.json`);
  if (!source || (await claimedBy(store, name, version)) !== id)
    throw refused(`${id} is not in ${store.label}`, `List what is there with \`builds ${name}\`, or publish it.`);
  return parseRecord(source.toString('utf8'), id);
}

/** Asks the store itself, past what was read before, whether these builds still exist. Throws refused. */
export async function assertPublished(store: Store, ids: readonly string[]): Promise<void> {
  const isGone = async (id: string) => {
    const { name, version } = buildIdParts(id);
    return (await claimedBy(store, name, version)) !== id;
  };
  const gone = await Promise.all(ids.map(isGone));
  const missing = ids.filter((_, n) => gone[n]);
  if (missing.length > 0)
    throw refused(`${missing.join(', ')} is not in ${store.label} any more`, 'Publish it again, then switch.');
}

/** Ids of every published build, all names or one, oldest version first. */
export async function publishedIds(store: Store, name?: string): Promise<string[]> {
  const names = name ? [`${name}/`] : await store.children('versions/');
  const ids: string[] = [];
  for (const folder of names)
    for (const file of await store.children(`versions/${folder}`)) {
      const id = await claimedBy(store, folder.slice(0, -1), file.replace(/\.json$/, ''));
      if (id) ids.push(id);
    }
  return ids;
}
