import { refused, usage } from '../errors.ts';
import { type BuildRecord, buildFolder, buildIdParts, type Provenance } from '../model/build.ts';
import { canonicalJson } from '../model/signing.ts';
import { inParallel, namesBelow, type Store } from '../store/store.ts';
import { claimedBy, claimKey, isPublished } from './catalog.ts';
import { formsOf, storedBytesLimit, writeFile } from './files.ts';
import { type BuiltPackage, recordOf } from './package.ts';
import { mapsFolder } from './sourceMaps.ts';

const PARALLEL_WRITES = 8;

export interface PublishedBuild {
  id: string;
  record: BuildRecord;
  /** False if the same bytes were already published as this version. */
  created: boolean;
}

/** Claims the version for this build. Returns false if it already holds it. Throws refused if another build does. */
export async function claimVersion(store: Store, record: BuildRecord, at = record.provenance.at): Promise<boolean> {
  const { name, version } = buildIdParts(record.id);
  const { publisher } = record.provenance;
  if (await store.create(claimKey(name, version), canonicalJson({ id: record.id, at, publisher }))) return true;
  const holder = await claimedBy(store, name, version);
  if (holder === record.id) return false;
  throw refused(
    `${name} ${version} is taken by ${holder}, which has other bytes`,
    'Raise the version in package.json, or publish with --version.',
  );
}

export interface PublishOptions {
  /** Time of arrival in this store, from which garbage collection counts the age. Default: time of publication. */
  at?: string;
  /** Returns false for an unexpected build, which is then refused. */
  isExpected?: (record: BuildRecord) => boolean;
}

/**
 * Stores a package: files, then `build.json`, then the version claim. A crash leaves nothing that counts as a build, and publishing
 * again completes the work. Publishing the same bytes again restores files that the store lost. Throws refused if the version is in use or the disk would
 * have less than the reserve left.
 */
export async function publish(
  store: Store,
  built: BuiltPackage,
  provenance: Provenance,
  { at, isExpected }: PublishOptions = {},
): Promise<PublishedBuild> {
  const record = recordOf(built, provenance);
  if (isExpected && !isExpected(record))
    throw refused(`the files of ${record.id} are not what they were published as`, 'Publish the build again.');
  const wasPublished = await isPublished(store, record.id);
  const files = [...built.files];
  const maps = wasPublished ? [] : [...built.maps];
  const neededBytes = [
    ...files.map(([path, body]) => storedBytesLimit(path, body)),
    ...maps.map(([, text]) => Buffer.byteLength(text)),
  ].reduce((sum, bytes) => sum + bytes, 0);
  if (!wasPublished) await assertReserve(store, neededBytes, limitsFrom().reserve);
  const folder = buildFolder(record.id);
  const writeFiles = async (pendingFiles: typeof files) => {
    await inParallel(PARALLEL_WRITES, pendingFiles, ([path, body]) => writeFile(store, `${folder}/${path}`, body));
    await store.create(`${folder}/build.json`, canonicalJson(record));
  };
  for (const [path, text] of maps) await store.create(`${mapsFolder(folder)}/${path}`, text);
  if (!wasPublished) await writeFiles(files);
  const created = !wasPublished && (await claimVersion(store, record, at));
  // files of an earlier attempt may have been swept before the claim, and files of a published build lost
  const storedKeys = new Set(await store.list(`${folder}/`));
  const sweptFiles = files.filter(([path]) =>
    formsOf(path).some(({ suffix }) => !storedKeys.has(`${folder}/${path}${suffix}`)),
  );
  if (sweptFiles.length > 0 || !storedKeys.has(`${folder}/build.json`)) await writeFiles(sweptFiles);
  return { id: record.id, record, created };
}

const MIB = 1024 * 1024;
/** Disk block in bytes, the least that a file occupies. */
const BLOCK_BYTES = 4096;
/** Lifetime of a cached count of stored bytes. */
const COUNT_LIFETIME_MS = 10 * 60_000;

function mebibytes(environment: NodeJS.ProcessEnv, name: string, defaultMib: number): number {
  const text = environment[name] ?? String(defaultMib);
  if (/^\d{1,9}$/.test(text)) return Number(text) * MIB;
  throw usage(`${name} is "${text}"`, 'Use a whole number of MiB.');
}

/** Limits of publishing, in bytes, from settings in MiB. Throws usage. */
export const limitsFrom = (environment: NodeJS.ProcessEnv = process.env) => ({
  /** Left free on the store's disk, for switching and rolling back. */
  reserve: mebibytes(environment, 'RELEASES_RESERVE', 64),
  /** Stored bytes of one remote, and of all together. They apply to uploads through a console. */
  remote: mebibytes(environment, 'RELEASES_QUOTA', 1024),
  total: mebibytes(environment, 'RELEASES_TOTAL', 10_240),
});

export type QuotaLimits = ReturnType<typeof limitsFrom>;

const bytesOnDisk = (bytes: number): number => Math.max(1, Math.ceil(bytes / BLOCK_BYTES)) * BLOCK_BYTES;
const formatMib = (bytes: number): string => `${Math.floor(bytes / MIB)} MiB`;

const FREE_CURE = 'Remove what nothing needs with `pnpm release gc`';

export async function assertReserve(store: Store, bytes: number, reserve: number): Promise<void> {
  const room = await store.room();
  if (room === null || room - bytes >= reserve) return;
  throw refused(
    `${store.label} would have less than ${formatMib(reserve)} left, which are kept for switching and rolling back`,
    `${FREE_CURE}, or make the disk larger. Switching and rolling back go on meanwhile.`,
  );
}

/** Limits uploads through a console: bytes of each remote, bytes of all remotes, and a reserve on the disk. */
export class Quota {
  readonly #store: Store;
  readonly #limits: QuotaLimits;
  readonly #counts = new Map<string, { bytes: Promise<number>; at: number }>();
  /** Bytes of pending writes, which no count includes yet. */
  #pendingBytes = 0;

  constructor(store: Store, limits: QuotaLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /** Writes `bytes` of a remote if there is room for them; `write` returns whether they were new. Throws refused. */
  async writeIfRoom(name: string, bytes: number, write: () => Promise<boolean>): Promise<void> {
    const neededBytes = bytesOnDisk(bytes);
    this.#pendingBytes += neededBytes;
    try {
      // reserved before the check, so that concurrent writes do not get the same room
      await this.#assertRoom(name);
      if (await write()) this.#add(name, neededBytes);
    } finally {
      this.#pendingBytes -= neededBytes;
    }
  }

  clearCounts(): void {
    this.#counts.clear();
  }

  async #assertRoom(name: string): Promise<void> {
    const { reserve, remote, total } = this.#limits;
    await assertReserve(this.#store, this.#pendingBytes, reserve);
    if ((await this.#bytesOf(name)) + this.#pendingBytes > remote)
      throw refused(
        `${name} has used up its ${formatMib(remote)}`,
        `${FREE_CURE}, or raise RELEASES_QUOTA of the console.`,
      );
    const names = await namesBelow(this.#store, 'builds/');
    let all = this.#pendingBytes;
    for (const each of new Set([...names, name])) all += await this.#bytesOf(each);
    if (all > total)
      throw refused(
        `all remotes together have used up their ${formatMib(total)}`,
        `${FREE_CURE}, or raise RELEASES_TOTAL of the console.`,
      );
  }

  #bytesOf(name: string): Promise<number> {
    const counted = this.#counts.get(name);
    if (counted && performance.now() - counted.at < COUNT_LIFETIME_MS) return counted.bytes;
    const count = async () => {
      const lists = [this.#store.entries(`builds/${name}/`), this.#store.entries(`maps/${name}/`)];
      return (await Promise.all(lists)).flat().reduce((sum, { bytes }) => sum + bytesOnDisk(bytes), 0);
    };
    const bytes = count();
    this.#counts.set(name, { bytes, at: performance.now() });
    bytes.catch(() => this.#counts.delete(name));
    return bytes;
  }

  #add(name: string, bytes: number): void {
    const cached = this.#counts.get(name);
    if (cached) this.#counts.set(name, { ...cached, bytes: cached.bytes.then((cached) => cached + bytes) });
  }
}
