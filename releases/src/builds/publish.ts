import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type BuildDescription, GATE_FILE, isFilePath, MAX_PATH } from '@liaozhai/shared/contract';
import { lookup } from 'mrmime';
import * as v from 'valibot';
import { hasCode, refused, usage } from '../errors.ts';
import {
  type BuildRecord,
  buildFolder,
  buildIdParts,
  descriptionSchema,
  isVersion,
  makeRecord,
  type Provenance,
} from '../model/build.ts';
import { issuesOf, parseJson } from '../model/documents.ts';
import { canonicalJson, sha384Integrity } from '../model/signing.ts';
import { inParallel, namesBelow, type Store } from '../store/store.ts';
import { claimedBy, claimKey, isPublished } from './catalog.ts';
import { contentProblem } from './contents.ts';
import { readAtRest } from './folder.ts';
import { readGateFile } from './gateFile.ts';
import { BROKEN_CURE, describeGuest, GUEST_CURE } from './guest.ts';
import { isSourceMap, mapsFolder, toStoredMap } from './sourceMaps.ts';

const PARALLEL_WRITES = 8;
/** Largest file compressed at the best quality. Beyond it, the last percent costs seconds. */
const BEST_BROTLI_BYTES = 1024 * 1024;
const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

export interface PublishedBuild {
  id: string;
  record: BuildRecord;
  /** False if the same bytes were already published as this version. */
  created: boolean;
}

/** Returns a package's record without storing it. */
export function recordOf({ description, files }: BuiltPackage, provenance: Provenance): BuildRecord {
  const entries = [...files].map(([path, body]) => [path, { integrity: sha384Integrity(body), size: body.length }]);
  return makeRecord(description, Object.fromEntries(entries), provenance);
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

/** Upper bound of a file's stored bytes, including its compressed forms. */
export const storedBytesLimit = (path: string, body: Buffer): number => (isCompressed(path) ? 3 : 1) * body.length;

/** Writes a file of a build and its compressed forms. Returns whether it is new. */
export async function writeFile(store: Store, key: string, body: Buffer): Promise<boolean> {
  const type = contentType(key) ?? 'application/octet-stream';
  const isNew = await store.create(key, body, { contentType: type });
  if (!isCompressed(key)) return isNew;
  const quality = body.length > BEST_BROTLI_BYTES ? 9 : 11;
  const brotliOptions = {
    params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length, [constants.BROTLI_PARAM_QUALITY]: quality },
  };
  await store.create(`${key}.br`, await brotliAsync(body, brotliOptions), { contentType: type, contentEncoding: 'br' });
  await store.create(`${key}.gz`, await gzipAsync(body, { level: 9 }), { contentType: type, contentEncoding: 'gzip' });
  return isNew;
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
  const formsOf = (path: string) => (isCompressed(path) ? ['', '.br', '.gz'] : ['']);
  const sweptFiles = files.filter(([path]) =>
    formsOf(path).some((form) => !storedKeys.has(`${folder}/${path}${form}`)),
  );
  if (sweptFiles.length > 0 || !storedKeys.has(`${folder}/build.json`)) await writeFiles(sweptFiles);
  return { id: record.id, record, created };
}

const MIB = 1024 * 1024;
/** Disk block in bytes, the least that a file occupies. */
const BLOCK_BYTES = 4096;
/** Lifetime of a cached count of stored bytes. */
const COUNT_LIFETIME_MS = 10 * 60_000;

/** Limits of publishing, in bytes. */
export interface QuotaLimits {
  /** Left free on the store's disk, for switching and rolling back. */
  reserve: number;
  /** Stored bytes of one remote. Applies to uploads through a console. */
  remote: number;
  /** Stored bytes of all remotes together. Applies to uploads through a console. */
  total: number;
}

function mebibytes(environment: NodeJS.ProcessEnv, name: string, defaultMib: number): number {
  const text = environment[name] ?? String(defaultMib);
  if (/^\d{1,9}$/.test(text)) return Number(text) * MIB;
  throw usage(`${name} is "${text}"`, 'Use a whole number of MiB.');
}

/** The limits of RELEASES_RESERVE, RELEASES_QUOTA and RELEASES_TOTAL, in MiB. Throws usage. */
export const limitsFrom = (environment: NodeJS.ProcessEnv = process.env): QuotaLimits => ({
  reserve: mebibytes(environment, 'RELEASES_RESERVE', 64),
  remote: mebibytes(environment, 'RELEASES_QUOTA', 1024),
  total: mebibytes(environment, 'RELEASES_TOTAL', 10_240),
});

const bytesOnDisk = (bytes: number): number => Math.max(1, Math.ceil(bytes / BLOCK_BYTES)) * BLOCK_BYTES;
const formatMib = (bytes: number): string => `${Math.floor(bytes / MIB)} MiB`;

const FREE_CURE = 'Remove what nothing needs with `pnpm release gc`';

/** Throws refused if writing so many bytes would leave less than the reserve. */
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

  /** Drops cached counts after a removal. */
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

/** Limits of one build. */
export const LIMITS = { files: 2000, fileBytes: 10 * 1024 * 1024, buildBytes: 50 * 1024 * 1024 } as const;

const COMPRESSED = /\.(?:m?js|css|html|json|svg|txt|webmanifest)$/;

/** The media type a build's file is served with, or null if its ending is unknown. */
export function contentType(path: string): string | null {
  // by its last ending, mrmime takes it for a video
  const type = path.endsWith('.d.ts') ? 'text/plain' : lookup(path);
  if (!type) return null;
  return type.startsWith('text/') || type.endsWith('json') || type === 'image/svg+xml'
    ? `${type}; charset=utf-8`
    : type;
}

/** True for files that are stored compressed as well. */
export const isCompressed = (path: string): boolean => COMPRESSED.test(path);

/** The headers every file of a build is served with; encodings are chosen per request. */
export function buildFileHeaders(path: string): Record<string, string> {
  const type = contentType(path) ?? 'application/octet-stream';
  return {
    'content-type': type,
    // opened as a document, its scripts would run in the product's origin without the gate's checks
    ...(/html|xml/.test(type) ? { 'content-security-policy': 'sandbox' } : {}),
    'cache-control': 'public, max-age=31536000, immutable',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    ...(isCompressed(path) ? { vary: 'Accept-Encoding' } : {}),
  };
}

const DESCRIPTION_FILE = 'liaozhai.json';
const RESERVED = /(?:^build\.json|\.br|\.gz)$/;

/** A built package in memory: its description and every file by its path inside `dist`. */
export interface BuiltPackage {
  description: BuildDescription;
  files: Map<string, Buffer>;
  /** Source maps as stored, by path inside `dist`. They are not part of the build, so its digest ignores them. */
  maps: Map<string, string>;
}

/** Why a file may not be part of a build, or null. */
export function fileProblem(path: string, size: number): string | null {
  if (path.length > MAX_PATH) return `${path}: more than ${MAX_PATH} characters`;
  if (!isFilePath(path)) return `${path}: hidden files, "..", blanks and characters a URL must escape are not allowed`;
  if (path.endsWith('.map')) return `${path}: source maps are kept apart from builds, which everybody may read`;
  if (RESERVED.test(path)) return `${path}: this name belongs to the release system, which compresses files itself`;
  if (!contentType(path)) return `${path}: files of this ending have no known media type`;
  if (size > LIMITS.fileBytes) return `${path}: ${size} bytes, more than the ${LIMITS.fileBytes} a file may have`;
  return null;
}

/** Why these files together may not be a build; empty if they may. */
export function packageProblems(description: BuildDescription, sizes: ReadonlyMap<string, number>): string[] {
  const problems = [...sizes].map(([path, size]) => fileProblem(path, size)).filter((problem) => problem !== null);
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (sizes.size > LIMITS.files) problems.push(`${sizes.size} files, more than the ${LIMITS.files} a build may have`);
  if (bytes > LIMITS.buildBytes) problems.push(`${bytes} bytes, more than the ${LIMITS.buildBytes} a build may have`);
  const missingFiles = referencedFiles(description).filter(([path]) => !sizes.has(path));
  return [...problems, ...missingFiles.map(([path, place]) => `${place} names ${path}, which is not in the build`)];
}

function referencedFiles(description: BuildDescription): [path: string, place: string][] {
  const at = (place: string, paths: readonly string[]) => paths.map((path): [string, string] => [path, place]);
  const ownFiles = [...at('entry', [description.entry]), ...at('css', description.css)];
  if (description.kind === 'host') {
    const worker = description.serviceWorker ? [description.serviceWorker] : [];
    return [...ownFiles, ...at('template', [description.template]), ...at('serviceWorker', worker)];
  }
  const parts = [...description.routes, ...description.slots];
  return [
    ...ownFiles,
    ...at('module', [...description.module.js, ...description.module.css]),
    ...parts.flatMap((part) => at(part.name, [...part.js, ...part.css])),
  ];
}

const KIT_CURE =
  'Set what these lines name. remoteConfig() and hostConfig() of shared/build write the rest: see "Other build tools" in docs/for-teams.md.';

/** Validates a description, with `version` in place of its own if given. Throws usage, or refused with every problem. */
function parseDescription(value: unknown, cure: string, version?: string): BuildDescription {
  if (version !== undefined && !isVersion(version))
    throw usage(`"${version}" is not a version`, 'Use a semantic version without build metadata, such as 1.4.2.');
  const parsed = v.safeParse(descriptionSchema, version && value instanceof Object ? { ...value, version } : value);
  if (parsed.success) return parsed.output;
  throw refused(`the description of the build does not meet the contract`, cure, issuesOf(parsed.issues));
}

async function readDescription(folder: string, version?: string): Promise<BuildDescription> {
  const source = await readFile(join(folder, DESCRIPTION_FILE), 'utf8').catch((cause: unknown) => {
    if (!hasCode(cause, 'ENOENT', 'ENOTDIR')) throw cause;
    return null;
  });
  if (source !== null) return parseDescription(parseJson(source, DESCRIPTION_FILE, BROKEN_CURE), KIT_CURE, version);
  const guest = await describeGuest(folder, version);
  if (guest !== null) return parseDescription(guest, GUEST_CURE, version);
  throw refused(
    `${folder} holds no ${DESCRIPTION_FILE}`,
    "Name the package's build output, usually dist (of this repository: remotes/<name>/dist), after building it.",
  );
}

/** Reads and checks a build output, which may not contain symbolic links. Throws refused with every problem. */
export async function readPackage(folder: string, version?: string): Promise<BuiltPackage> {
  const description = await readDescription(folder, version);
  return readAtRest(folder, (filesInFolder) => readFiles(folder, description, filesInFolder));
}

async function readFiles(
  folder: string,
  description: BuildDescription,
  filesInFolder: ReadonlyMap<string, { size: number }>,
): Promise<BuiltPackage> {
  const maps = new Map<string, string>();
  const sizes = new Map<string, number>();
  for (const [path, { size }] of filesInFolder) {
    // a stack never names a stylesheet, so its map is dropped
    const text = isSourceMap(path) ? toStoredMap(await readFile(join(folder, path))) : null;
    if (text !== null) maps.set(path, text);
    if (!path.endsWith('.map')) sizes.set(path, size);
  }
  const problems = packageProblems(description, sizes);
  if (problems.length > 0)
    throw refused(`${folder} cannot be published`, 'Mend the build and publish again.', problems);
  const files = new Map<string, Buffer>();
  for (const path of sizes.keys()) files.set(path, await readFile(join(folder, path)));
  const defects = [...files].flatMap(([path, body]) => contentProblem(description, path, body) ?? []);
  if (defects.length > 0) throw refused(`${folder} cannot be published`, BROKEN_CURE, defects);
  readGateFile(files.get(GATE_FILE));
  return { description, files, maps };
}
