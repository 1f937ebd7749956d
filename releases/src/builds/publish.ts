import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Script } from 'node:vm';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type BuildDescription, GATE_FILE, isFilePath, MAX_PATH } from '@liaozhai/shared/contract';
import { parse } from 'acorn';
import { lookup } from 'mrmime';
import * as v from 'valibot';
import { hasCode, messageOf, refused, usage } from '../errors.ts';
import {
  type BuildRecord,
  buildFolder,
  buildIdParts,
  descriptionSchema,
  issuesOf,
  isVersion,
  makeRecord,
  type Provenance,
  parseJson,
} from '../model/build.ts';
import { canonicalJson, sha384Integrity } from '../model/signing.ts';
import type { Store } from '../store/store.ts';
import { claimedBy, claimKey } from './catalog.ts';
import { readAtRest } from './folder.ts';
import { readGateFile } from './gateFile.ts';
import { BROKEN_CURE, describeGuest, GUEST_CURE } from './guest.ts';
import { isSourceMap, mapsFolder, storedMap } from './sourceMaps.ts';

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

/** The record of a package as it would be stored. */
export function recordOf({ description, files }: BuiltPackage, provenance: Provenance): BuildRecord {
  const entries = [...files].map(([path, body]) => [path, { integrity: sha384Integrity(body), size: body.length }]);
  return makeRecord(description, Object.fromEntries(entries), provenance);
}

/** Claims the record's version for it. Throws refused if other bytes have it. */
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

/** What a file takes at most, with its compressed forms. */
export const bytesOf = (path: string, body: Buffer): number => (isCompressed(path) ? 3 : 1) * body.length;

/** Writes one file of a build, with its compressed forms. Returns whether it is new. */
export async function writeFile(store: Store, key: string, body: Buffer): Promise<boolean> {
  const type = contentType(key) ?? 'application/octet-stream';
  const isNew = await store.create(key, body, { contentType: type });
  if (!isCompressed(key)) return isNew;
  const quality = body.length > BEST_BROTLI_BYTES ? 9 : 11;
  const best = {
    params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length, [constants.BROTLI_PARAM_QUALITY]: quality },
  };
  await store.create(`${key}.br`, await brotli(body, best), { contentType: type, contentEncoding: 'br' });
  await store.create(`${key}.gz`, await gzipped(body, { level: 9 }), { contentType: type, contentEncoding: 'gzip' });
  return isNew;
}

export interface PublishOptions {
  /** Bytes of the disk that stay free. */
  reserve?: number;
  /** When it came into this store, by which it counts as young; when it was published if left out. */
  at?: string;
  /** Refuses a package that is not the build it is taken for. */
  isExpected?: (record: BuildRecord) => boolean;
}

/**
 * Stores a package: its files, then `build.json`, then the version's claim, so that a crash leaves nothing that counts as a
 * build and publishing again finishes the work. The same bytes again do nothing. Throws refused if the version is taken, or the disk
 * would have less left than the reserve.
 */
export async function publish(
  store: Store,
  built: BuiltPackage,
  provenance: Provenance,
  { reserve = limitsFrom().reserve, at, isExpected }: PublishOptions = {},
): Promise<Published> {
  const record = recordOf(built, provenance);
  if (isExpected && !isExpected(record))
    throw refused(`the files of ${record.id} are not what they were published as`, 'Publish the build again.');
  const { name, version } = buildIdParts(record.id);
  if ((await claimedBy(store, name, version)) === record.id) return { id: record.id, record, created: false };
  const files = [...built.files];
  const maps = [...built.maps];
  const needed = [
    ...files.map(([path, body]) => bytesOf(path, body)),
    ...maps.map(([, text]) => Buffer.byteLength(text)),
  ].reduce((sum, bytes) => sum + bytes, 0);
  await assertReserve(store, needed, reserve);
  const folder = buildFolder(record.id);
  const writeAll = async (waiting: typeof files) => {
    const write = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift())
        await writeFile(store, `${folder}/${next[0]}`, next[1]);
    };
    await Promise.all(Array.from({ length: PARALLEL_WRITES }, write));
    await store.create(`${folder}/build.json`, canonicalJson(record));
  };
  for (const [path, text] of maps) await store.create(`${mapsFolder(folder)}/${path}`, text);
  await writeAll([...files]);
  const created = await claimVersion(store, record, at);
  // files that an earlier attempt had left may have been swept away until now; what is claimed is not swept
  const stored = new Set(await store.list(`${folder}/`));
  const swept = files.filter(([path]) => !stored.has(`${folder}/${path}`));
  if (swept.length > 0 || !stored.has(`${folder}/build.json`)) await writeAll(swept);
  return { id: record.id, record, created };
}

const MIB = 1024 * 1024;
/** What even an empty file takes on a disk. */
const BLOCK = 4096;
/** How long a count of what is stored is believed. */
const COUNTED_MS = 10 * 60_000;

/** How much publishing may take, in bytes. */
export interface QuotaLimits {
  /** Left free on the store's disk: switching and rolling back write there too. */
  reserve: number;
  /** Stored bytes of one remote, counting uploads through a console. */
  remote: number;
  /** Of all remotes together, likewise. */
  total: number;
}

function mebibytes(environment: NodeJS.ProcessEnv, name: string, otherwise: number): number {
  const text = environment[name] ?? String(otherwise);
  if (/^\d{1,9}$/.test(text)) return Number(text) * MIB;
  throw usage(`${name} is "${text}"`, 'Use a whole number of MiB.');
}

/** The limits of RELEASES_RESERVE, RELEASES_QUOTA and RELEASES_TOTAL, in MiB. Throws usage. */
export const limitsFrom = (environment: NodeJS.ProcessEnv = process.env): QuotaLimits => ({
  reserve: mebibytes(environment, 'RELEASES_RESERVE', 64),
  remote: mebibytes(environment, 'RELEASES_QUOTA', 1024),
  total: mebibytes(environment, 'RELEASES_TOTAL', 10_240),
});

const onDisk = (bytes: number): number => Math.max(1, Math.ceil(bytes / BLOCK)) * BLOCK;
const inMib = (bytes: number): string => `${Math.floor(bytes / MIB)} MiB`;

const FREE = 'Remove what nothing needs with `pnpm release gc`';

/** Throws refused if writing so many bytes would leave less than the reserve. */
export async function assertReserve(store: Store, bytes: number, reserve: number): Promise<void> {
  const room = await store.room();
  if (room === null || room - bytes >= reserve) return;
  throw refused(
    `${store.label} would have less than ${inMib(reserve)} left, which are kept for switching and rolling back`,
    `${FREE}, or make the disk larger. Switching and rolling back go on meanwhile.`,
  );
}

/** Keeps uploads through a console from filling the store: each remote and all together have a bound, the disk a reserve. */
export class Quota {
  readonly #store: Store;
  readonly #limits: QuotaLimits;
  readonly #counted = new Map<string, { bytes: Promise<number>; at: number }>();
  /** Of writes under way, which no count has seen yet. */
  #underWay = 0;

  constructor(store: Store, limits: QuotaLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /** Writes `bytes` of a remote if there is room for them; `write` says whether they were new. Throws refused. */
  async hold(name: string, bytes: number, write: () => Promise<boolean>): Promise<void> {
    const needed = onDisk(bytes);
    this.#underWay += needed;
    try {
      // counted before, so that the room of writes under way is not given twice
      await this.#assertRoom(name);
      if (await write()) this.#add(name, needed);
    } finally {
      this.#underWay -= needed;
    }
  }

  /** Counts again after a removal. */
  forget(): void {
    this.#counted.clear();
  }

  async #assertRoom(name: string): Promise<void> {
    const { reserve, remote, total } = this.#limits;
    await assertReserve(this.#store, this.#underWay, reserve);
    if ((await this.#bytesOf(name)) + this.#underWay > remote)
      throw refused(`${name} has used up its ${inMib(remote)}`, `${FREE}, or raise RELEASES_QUOTA of the console.`);
    const names = (await this.#store.children('builds/')).map((folder) => folder.replace(/\/$/, ''));
    let all = this.#underWay;
    for (const each of new Set([...names, name])) all += await this.#bytesOf(each);
    if (all > total)
      throw refused(
        `all remotes together have used up their ${inMib(total)}`,
        `${FREE}, or raise RELEASES_TOTAL of the console.`,
      );
  }

  #bytesOf(name: string): Promise<number> {
    const counted = this.#counted.get(name);
    if (counted && performance.now() - counted.at < COUNTED_MS) return counted.bytes;
    const count = async () => {
      const lists = [this.#store.entries(`builds/${name}/`), this.#store.entries(`maps/${name}/`)];
      return (await Promise.all(lists)).flat().reduce((sum, { bytes }) => sum + onDisk(bytes), 0);
    };
    const bytes = count();
    this.#counted.set(name, { bytes, at: performance.now() });
    bytes.catch(() => this.#counted.delete(name));
    return bytes;
  }

  #add(name: string, bytes: number): void {
    const counts = this.#counted.get(name);
    if (counts) this.#counted.set(name, { ...counts, bytes: counts.bytes.then((counted) => counted + bytes) });
  }
}

/** What one build may hold at most. */
export const LIMITS = { files: 2000, fileBytes: 10 * 1024 * 1024, buildBytes: 50 * 1024 * 1024 } as const;

const COMPRESSED = /\.(?:m?js|css|html|json|svg|txt|webmanifest)$/;

/** The media type a build's file is served with, or null if its ending is unknown. */
export function contentType(path: string): string | null {
  // a video by its last ending
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
    // opened by its address, its scripts would run in the product's origin, past the gate
    ...(/html|xml/.test(type) ? { 'content-security-policy': 'sandbox' } : {}),
    'cache-control': 'public, max-age=31536000, immutable',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    ...(isCompressed(path) ? { vary: 'Accept-Encoding' } : {}),
  };
}

const DESCRIPTION = 'liaozhai.json';
const RESERVED = /(?:^build\.json|\.br|\.gz)$/;

/** A built package in memory: its description and every file by its path inside `dist`. */
export interface BuiltPackage {
  description: BuildDescription;
  files: Map<string, Buffer>;
  /** Source maps as they are stored, by their path inside `dist`: no part of the build, whose bytes they do not change. */
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
  const named = namedFiles(description).filter(([path]) => !sizes.has(path));
  return [...problems, ...named.map(([path, place]) => `${place} names ${path}, which is not in the build`)];
}

/** Why an entry is no script that a browser could run: empty or cut off. It is parsed and never run. */
export function entryProblem(description: BuildDescription, source: Buffer | null | undefined): string | null {
  const { entry } = description;
  const text = source?.toString('utf8') ?? '';
  if (text.trim() === '') return `the entry ${entry} is empty`;
  try {
    if (description.kind === 'remote' && description.entryType === 'module')
      parse(text, { ecmaVersion: 'latest', sourceType: 'module' });
    else new Script(text, { filename: entry });
    return null;
  } catch (cause) {
    return `the entry ${entry} does not parse (${messageOf(cause)}): it may be cut off`;
  }
}

function namedFiles(description: BuildDescription): [path: string, place: string][] {
  const at = (place: string, paths: readonly string[]) => paths.map((path): [string, string] => [path, place]);
  const own = [...at('entry', [description.entry]), ...at('css', description.css)];
  if (description.kind === 'host') {
    const worker = description.serviceWorker ? [description.serviceWorker] : [];
    return [...own, ...at('template', [description.template]), ...at('serviceWorker', worker)];
  }
  const parts = [...description.routes, ...description.slots];
  return [
    ...own,
    ...at('module', [...description.module.js, ...description.module.css]),
    ...parts.flatMap((part) => at(part.name, [...part.js, ...part.css])),
  ];
}

const KIT_CURE =
  'Set what these lines name. remoteConfig() and hostConfig() of shared/build write the rest: see "Other build tools" in docs/for-teams.md.';

/** Checks a description and puts another version in, if asked. Throws refused, naming every missing field. */
function parseDescription(value: unknown, cure: string, version?: string): BuildDescription {
  if (version !== undefined && !isVersion(version))
    throw usage(`"${version}" is not a version`, 'Use a semantic version without build metadata, such as 1.4.2.');
  const parsed = v.safeParse(descriptionSchema, version && value instanceof Object ? { ...value, version } : value);
  if (parsed.success) return parsed.output;
  throw refused(`the description of the build does not meet the contract`, cure, issuesOf(parsed.issues));
}

async function readDescription(folder: string, version?: string): Promise<BuildDescription> {
  const source = await readFile(join(folder, DESCRIPTION), 'utf8').catch((cause: unknown) => {
    if (!hasCode(cause, 'ENOENT', 'ENOTDIR')) throw cause;
    return null;
  });
  if (source !== null) return parseDescription(parseJson(source, DESCRIPTION, BROKEN_CURE), KIT_CURE, version);
  const guest = await describeGuest(folder, version);
  if (guest !== null) return parseDescription(guest, GUEST_CURE, version);
  throw refused(
    `${folder} holds no ${DESCRIPTION}`,
    "Name the package's build output, usually dist (of this repository: remotes/<name>/dist), after building it.",
  );
}

/** Reads and checks a build output. Nothing is followed out of the folder. Throws refused with every problem found. */
export async function readPackage(folder: string, version?: string): Promise<BuiltPackage> {
  const description = await readDescription(folder, version);
  return readAtRest(folder, (found) => readFiles(folder, description, found));
}

async function readFiles(
  folder: string,
  description: BuildDescription,
  found: ReadonlyMap<string, { size: number }>,
): Promise<BuiltPackage> {
  const maps = new Map<string, string>();
  const sizes = new Map<string, number>();
  for (const [path, { size }] of found) {
    // maps of styles lead nowhere that a stack names
    const text = isSourceMap(path) ? storedMap(await readFile(join(folder, path))) : null;
    if (text !== null) maps.set(path, text);
    if (!path.endsWith('.map')) sizes.set(path, size);
  }
  const problems = packageProblems(description, sizes);
  if (problems.length > 0)
    throw refused(`${folder} cannot be published`, 'Mend the build and publish again.', problems);
  const files = new Map<string, Buffer>();
  for (const path of sizes.keys()) files.set(path, await readFile(join(folder, path)));
  const broken = entryProblem(description, files.get(description.entry));
  if (broken) throw refused(`${folder} cannot be published`, BROKEN_CURE, [broken]);
  readGateFile(files.get(GATE_FILE));
  return { description, files, maps };
}
