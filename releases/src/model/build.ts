import {
  type BuildDescription,
  buildFileSchema,
  dictionarySchema,
  digestSchema,
  filePathSchema,
  type HostDescription,
  hostDescriptionSchema,
  isName,
  nameSchema,
  type PageBuild,
  type RemoteDescription,
  remoteDescriptionSchema,
  type SetBody,
  setBodySchema,
} from '@liaozhai/shared/contract';
import semver from 'semver';
import * as v from 'valibot';
import { refused, usage } from '../errors.ts';
import { say } from '../sentences.ts';
import { parseDocument } from './documents.ts';
import { canonicalJson, sha256Hex } from './signing.ts';

/** True for a semantic version in normal form, without build metadata. */
export const isVersion = (text: string): boolean =>
  text.length <= 80 && semver.valid(text) === text && !text.includes('+');

/** A semver range. Refuses forms that only package managers resolve, such as `workspace:^`, `catalog:` and `latest`. */
export const rangeSchema = v.pipe(
  v.string(),
  v.check(
    (text) => semver.validRange(text) !== null,
    ({ input }) => `"${input}" must be a semver range, such as ^19.0.0`,
  ),
);
const version = v.pipe(
  v.string(),
  v.check((text) => semver.valid(text) !== null, 'must be a semantic version'),
);

/** Contract range of a remote to publish, limited to what pages parse without semver. Stored builds may have other ranges. */
export const contractRangeSchema = v.pipe(
  v.string(),
  v.regex(
    /^\^\d+(?:\.\d+){0,2}(?: ?\|\| ?\^\d+(?:\.\d+){0,2})*$/,
    ({ input }) => `"${input}" must be a range such as ^2.1.0 or ^1.4.0 || ^2.1.0, the forms that pages read`,
  ),
);

/** Contract version of a host to publish. Not a prerelease, which no range of a remote matches. */
const contractSchema = v.pipe(
  v.string(),
  v.regex(/^\d+\.\d+\.\d+$/, ({ input }) => `"${input}" must be a version such as 3.0.0`),
);

/** Dictionary by library name. It has no prototype, because a library may be called `constructor`. */
const byLibrary = (value: v.GenericSchema<string>) =>
  v.pipe(
    dictionarySchema(v.string(), value),
    v.transform((versions): Record<string, string> => Object.assign(Object.create(null), versions)),
  );

/** Fields of every description that need semver to be checked. */
const checkedFields = {
  version: v.pipe(v.string(), v.check(isVersion, 'must be a semantic version without build metadata, such as 1.4.2')),
  federation: version,
  shared: v.object({ provides: byLibrary(version), requires: byLibrary(rangeSchema) }),
};

export const HOST_NAME = 'host';
const NAME_RULE = `the host build, and no other, is named "${HOST_NAME}"`;

/**
 * Schema of `liaozhai.json` with versions and ranges checked. Only a host may have the host's name, so that a publisher of `account`
 * cannot replace it.
 */
const descriptionWith = (contract: v.GenericSchema<string>, provided: v.GenericSchema<string>) =>
  v.variant('kind', [
    v.object({
      ...remoteDescriptionSchema.entries,
      ...checkedFields,
      name: v.pipe(nameSchema, v.notValue(HOST_NAME, NAME_RULE)),
      contract,
    }),
    v.object({
      ...hostDescriptionSchema.entries,
      ...checkedFields,
      name: v.pipe(nameSchema, v.value(HOST_NAME, NAME_RULE)),
      contract: provided,
    }),
  ]);

/** `dist/liaozhai.json`, the description of a package build. */
export const descriptionSchema = descriptionWith(contractRangeSchema, contractSchema);

/** Provenance is not part of the hash, so long values are cut instead of refused. */
export const truncatedText = (length: number) =>
  v.pipe(
    v.string(),
    v.transform((text) => text.slice(0, length)),
  );
/** Link in the console. Dropped unless it is `http:` or `https:`. */
const link = v.fallback(
  v.optional(v.pipe(v.string(), v.maxLength(500), v.regex(/^https?:\/\/[^\s"'<>]+$/))),
  undefined,
);

const recordSchema = v.object({
  format: v.literal(1),
  id: v.string(),
  digest: digestSchema,
  description: descriptionWith(rangeSchema, version),
  files: dictionarySchema(filePathSchema, buildFileSchema),
  provenance: v.object({
    commit: v.nullable(truncatedText(80)),
    at: truncatedText(40),
    publisher: truncatedText(120),
    author: v.optional(truncatedText(120)),
    change: link,
    run: link,
  }),
});

/** Publisher, time and origin of a build: commit, author, and the pages of its change and pipeline run. */
export type Provenance = v.InferOutput<typeof recordSchema>['provenance'];

/** `build.json` of a stored build. The digest covers files and description, except the version. */
export type BuildRecord = v.InferOutput<typeof recordSchema>;
export type RemoteRecord = BuildRecord & { description: RemoteDescription };
export type HostRecord = BuildRecord & { description: HostDescription };

export const isHost = (record: BuildRecord): record is HostRecord => record.description.kind === 'host';
export const isRemote = (record: BuildRecord): record is RemoteRecord => record.description.kind === 'remote';

export function makeRecord(
  description: BuildDescription,
  files: BuildRecord['files'],
  provenance: Provenance,
): BuildRecord {
  const digest = sha256Hex(canonicalJson({ description: { ...description, version: '' }, files }));
  const id = buildId(description.name, description.version, digest);
  return { format: 1, id, digest, description, files, provenance };
}

export function parseRecord(source: string, expectedId: string): BuildRecord {
  const what = say('theRecord', { build: expectedId });
  const record = parseDocument(recordSchema, source, what, say('publishAgainCure'));
  const { id, digest } = makeRecord(record.description, record.files, record.provenance);
  if (record.id !== expectedId || id !== expectedId || digest !== record.digest)
    throw refused(say('otherHash', { build: expectedId }), say('publishNewCure'));
  return record;
}

/** Returns sorted `builds`, with builds of `over` in place of those with the same name. */
export function mergeBuilds(builds: readonly string[], over: readonly string[]): string[] {
  const byName = new Map([...builds, ...over].map((id) => [nameOf(id), id]));
  return [...byName.values()].sort();
}

/** Returns the names whose builds differ between two lists, sorted. */
export function differencesBetween(from: readonly string[], to: readonly string[]) {
  const [before, after] = [from, to].map((ids) => new Map(ids.map((id) => [nameOf(id), id])));
  return [...new Set([...from, ...to].map(nameOf))]
    .sort()
    .map((name) => ({ name, from: before?.get(name) ?? null, to: after?.get(name) ?? null }))
    .filter((difference) => difference.from !== difference.to);
}

export const sameBuilds = (a: readonly string[], b: readonly string[]): boolean =>
  [...a].sort().join() === [...b].sort().join();

const BUILD_ID = /^([a-z][a-z0-9-]{0,39})@([0-9A-Za-z.-]{1,80})\+([0-9a-f]{12})$/;
const HASH_LENGTH = 12;

interface BuildIdParts {
  name: string;
  version: string;
  hash: string;
}

/** `stories@1.4.2+3f9c1a…`; the hash is the beginning of the content's digest. */
const buildId = (name: string, version: string, digest: string): string =>
  `${name}@${version}+${digest.slice(0, HASH_LENGTH)}`;

/** The parts of a build id, or null if it is malformed. */
export function parseBuildId(id: string): BuildIdParts | null {
  const [, name, version, hash] = BUILD_ID.exec(id) ?? [];
  return name && version && hash && isVersion(version) ? { name, version, hash } : null;
}

/** The parts of a build id. Throws usage if it is malformed. */
export function buildIdParts(id: string): BuildIdParts {
  const parts = parseBuildId(id);
  if (parts) return parts;
  throw usage(say('noBuildId', { text: id }), say('noBuildIdCure'));
}

/** Returns name and version of a build id or of `stories@1.4.2`. Throws usage. */
export function buildWordParts(word: string): Pick<BuildIdParts, 'name' | 'version'> {
  const at = word.indexOf('@');
  const [name, version] = [word.slice(0, at), word.slice(at + 1)];
  return isName(name) && isVersion(version) ? { name, version } : buildIdParts(word);
}

/** Returns the name in a build id. Throws usage if it is malformed. */
export const nameOf = (id: string): string => buildIdParts(id).name;

/** Folder of a build's files, relative to the store and to the origin; no slash at either end. */
export function buildFolder(id: string): string {
  const { name, version, hash } = buildIdParts(id);
  return `builds/${name}/${version}-${hash}`;
}

/** The build id of a folder made by buildFolder, or null. */
export function idOfFolder(name: string, folder: string): string | null {
  const cut = folder.length - HASH_LENGTH - 1;
  const id = `${name}@${folder.slice(0, cut)}+${folder.slice(cut + 1)}`;
  return folder[cut] === '-' && parseBuildId(id) ? id : null;
}

const CODE = /\.(?:m?js|css)$/;
const unique = (paths: string[]): string[] => [...new Set(paths)];

/** Maps paths inside a build to those at the origin. */
const pathIn = ({ id }: BuildRecord) => {
  const root = `/${buildFolder(id)}`;
  return (path: string): string => `${root}/${path}`;
};

/** Absolute path → integrity, for every script and stylesheet of a build. */
export function codeHashes(record: BuildRecord): Record<string, string> {
  const code = Object.entries(record.files).filter(([path]) => CODE.test(path));
  const at = pathIn(record);
  return Object.fromEntries(code.map(([path, file]) => [at(path), file.integrity]));
}

/** A remote's build as pages receive it, with all files to preload for each route and slot. */
export function pageBuild(record: RemoteRecord): PageBuild {
  const { description } = record;
  const at = pathIn(record);
  const preload = (part: { js: string[]; css: string[] }) => ({
    js: unique([description.entry, ...description.module.js, ...part.js]).map(at),
    css: unique([...description.module.css, ...part.css]).map(at),
  });
  return {
    id: record.id,
    label: description.label,
    entry: at(description.entry),
    ...(description.entryType ? { entryType: description.entryType } : {}),
    global: description.global,
    contract: description.contract,
    routes: description.routes.map(({ js, css, ...route }) => ({ ...route, preload: preload({ js, css }) })),
    slots: description.slots.map(({ js, css, ...slot }) => ({ ...slot, preload: preload({ js, css }) })),
  };
}

function pageHost(record: HostRecord): SetBody['host'] {
  const { description } = record;
  const at = pathIn(record);
  return {
    id: record.id,
    entry: at(description.entry),
    contract: description.contract,
    federation: description.federation,
    css: description.css.map(at),
    template: at(description.template),
    templateIntegrity: record.files[description.template]?.integrity ?? '',
    serviceWorker: description.serviceWorker ? at(description.serviceWorker) : null,
  };
}

/** The set of these builds: exactly one host, at most one build per name. Throws refused. */
export function makeSet(records: readonly BuildRecord[]): SetBody {
  const [host, secondHost] = records.filter(isHost);
  if (secondHost) throw refused(say('twoHosts', { build: secondHost.id }), say('twoHostsCure'));
  if (!host) throw refused(say('noHost'), say('noHostCure'));
  const remotes = records.filter(isRemote).sort((a, b) => (a.description.name < b.description.name ? -1 : 1));
  return {
    format: 1,
    host: pageHost(host),
    remotes: Object.fromEntries(remotes.map((record) => [record.description.name, pageBuild(record)])),
    hashes: Object.assign({}, codeHashes(host), ...remotes.map(codeHashes)),
  };
}

/** The first 160 bits of the SHA-256 over the canonical JSON, as hex. */
export const setHash = (body: SetBody): string => sha256Hex(canonicalJson(body)).slice(0, 40);

/** Reads a stored set and checks it against the hash it is stored under. Throws refused. */
export function parseSet(source: string, hash: string): SetBody {
  const cure = say('otherStateCure');
  const body = parseDocument(setBodySchema, source, say('theSet', { hash }), cure);
  if (setHash(body) !== hash) throw refused(say('setChanged', { hash }), cure);
  return body;
}
