import {
  type BuildDescription,
  buildFileSchema,
  dictionarySchema,
  digestSchema,
  filePathSchema,
  type HostDescription,
  hostDescriptionSchema,
  isName,
  type PageBuild,
  type RemoteDescription,
  remoteDescriptionSchema,
  type SetBody,
  setBodySchema,
} from '@liaozhai/shared/contract';
import semver from 'semver';
import * as v from 'valibot';
import { messageOf, refused, usage } from '../errors.ts';
import { say } from '../sentences.ts';
import { canonicalJson, sha256Hex } from './signing.ts';

/** True for a semantic version without build metadata, written the normal way. */
export const isVersion = (text: string): boolean =>
  text.length <= 80 && semver.valid(text) === text && !text.includes('+');

/** What a package manager reads beyond semver (`workspace:^`, `catalog:`, `latest`) means nothing to a page. */
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

/** What a remote may be published with: the form that a page reads, which has no semver. Stored builds may say more. */
export const contractRangeSchema = v.pipe(
  v.string(),
  v.regex(
    /^\^\d+(?:\.\d+){0,2}(?: ?\|\| ?\^\d+(?:\.\d+){0,2})*$/,
    ({ input }) => `"${input}" must be a range such as ^2.1.0 or ^1.4.0 || ^2.1.0, the forms that pages read`,
  ),
);

/** What a host may be published with: no range of a remote takes a prerelease. */
const contractSchema = v.pipe(
  v.string(),
  v.regex(/^\d+\.\d+\.\d+$/, ({ input }) => `"${input}" must be a version such as 3.0.0`),
);

/** By the names of libraries, of which `constructor` may be one: what every object inherits must not answer. */
const byLibrary = (value: v.GenericSchema<string>) =>
  v.pipe(
    dictionarySchema(v.string(), value),
    v.transform((versions): Record<string, string> => Object.assign(Object.create(null), versions)),
  );

/** What only semver can tell of every description. */
const checked = {
  version: v.pipe(v.string(), v.check(isVersion, 'must be a semantic version without build metadata, such as 1.4.2')),
  federation: version,
  shared: v.object({ provides: byLibrary(version), requires: byLibrary(rangeSchema) }),
};

/** The contract's form of `liaozhai.json`, with its versions and ranges checked. */
const descriptionWith = (contract: v.GenericSchema<string>, provided: v.GenericSchema<string>) =>
  v.variant('kind', [
    v.object({ ...remoteDescriptionSchema.entries, ...checked, contract }),
    v.object({ ...hostDescriptionSchema.entries, ...checked, contract: provided }),
  ]);

/** What a package build says of itself in `dist/liaozhai.json`. */
export const descriptionSchema = descriptionWith(contractRangeSchema, contractSchema);

/** Provenance is no part of the hash, so a long name in it spoils nothing and is cut to what is shown. */
const cut = (length: number) =>
  v.pipe(
    v.string(),
    v.transform((told) => told.slice(0, length)),
  );
/** An address people follow from the console: nothing but the web's, and left out otherwise. */
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
    commit: v.nullable(cut(80)),
    at: cut(40),
    publisher: cut(120),
    author: v.optional(cut(120)),
    change: link,
    run: link,
  }),
});

/** Who published a build and when, and what it was built from: its commit and author, the pages of its change and its pipeline run. */
export type Provenance = v.InferOutput<typeof recordSchema>['provenance'];

/** `build.json`: everything known of a stored build. The digest covers description (but for the version) and files. */
export type BuildRecord = v.InferOutput<typeof recordSchema>;
export type RemoteRecord = BuildRecord & { description: RemoteDescription };
export type HostRecord = BuildRecord & { description: HostDescription };

export const isHost = (record: BuildRecord): record is HostRecord => record.description.kind === 'host';
export const isRemote = (record: BuildRecord): record is RemoteRecord => record.description.kind === 'remote';

/** Problems of a value against a schema, one line each, with the place they are at. */
export const issuesOf = (issues: readonly v.BaseIssue<unknown>[]): string[] =>
  issues.map((issue) => {
    const isUnknown = issue.type === 'strict_object' && issue.expected === 'never';
    const isMissing = /object$/.test(issue.type) && issue.received === 'undefined';
    const problem = isUnknown ? 'is not a known field' : isMissing ? 'is missing' : issue.message;
    return `${v.getDotPath(issue) || 'document'}: ${problem}`;
  });

const digestOf = (description: BuildDescription, files: BuildRecord['files']): string =>
  sha256Hex(canonicalJson({ description: { ...description, version: '' }, files }));

/** The record of a build with these files. */
export function makeRecord(
  description: BuildDescription,
  files: BuildRecord['files'],
  provenance: Provenance,
): BuildRecord {
  const digest = digestOf(description, files);
  return {
    format: 1,
    id: buildId(description.name, description.version, digest),
    digest,
    description,
    files,
    provenance,
  };
}

/** Reads `build.json` and checks that it is what its id says. Throws refused. */
export function parseRecord(source: string, expectedId: string): BuildRecord {
  const what = say('theRecord', { build: expectedId });
  const cure = say('publishAgainCure');
  const parsed = v.safeParse(recordSchema, parseJson(source, what, cure));
  if (!parsed.success) throw refused(say('documentDamaged', { what }), cure, issuesOf(parsed.issues));
  const record = parsed.output;
  const digest = digestOf(record.description, record.files);
  const id = buildId(record.description.name, record.description.version, digest);
  if (record.id !== expectedId || id !== expectedId || digest !== record.digest)
    throw refused(say('otherHash', { build: expectedId }), say('publishNewCure'));
  return record;
}

/** JSON.parse that says which document is broken. Throws refused. */
export function parseJson(source: string, what: string, cure = ''): unknown {
  try {
    // editors on Windows begin a file with a byte order mark
    return JSON.parse(source.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw refused(say('notJson', { what, cause: messageOf(cause).replace(/\s+/g, ' ') }), cure);
  }
}

/** JSON.parse of a document without which things go on as if it had never been there: null where it is damaged. */
export function jsonOrNull(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return null;
  }
}

/** The builds with others of the same names put over them, ordered. */
export function mergeBuilds(builds: readonly string[], over: readonly string[]): string[] {
  const byName = new Map([...builds, ...over].map((id) => [nameOf(id), id]));
  return [...byName.values()].sort();
}

/** The same builds, in any order. */
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

/** Name and version of what a person typed for a build: its id, or `stories@1.4.2`. Throws usage. */
export function buildWordParts(word: string): Pick<BuildIdParts, 'name' | 'version'> {
  const at = word.indexOf('@');
  const [name, version] = [word.slice(0, at), word.slice(at + 1)];
  return isName(name) && isVersion(version) ? { name, version } : buildIdParts(word);
}

/** The name a build id begins with. */
export const nameOf = (id: string): string => buildIdParts(id).name;

/** Where a build's files lie, below the store and below the origin alike; no slash at either end. */
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

export const HOST_NAME = 'host';
const CODE = /\.(?:m?js|css)$/;
const unique = (paths: string[]): string[] => [...new Set(paths)];

/** Absolute path → integrity, for every script and stylesheet of a build. */
export function codeHashes(record: BuildRecord): Record<string, string> {
  const root = `/${buildFolder(record.id)}`;
  const code = Object.entries(record.files).filter(([path]) => CODE.test(path));
  return Object.fromEntries(code.map(([path, file]) => [`${root}/${path}`, file.integrity]));
}

/** A remote's build as the page needs it: each route and slot with all files it takes to show it. */
export function pageBuild(record: RemoteRecord): PageBuild {
  const { description } = record;
  const at = (path: string) => `/${buildFolder(record.id)}/${path}`;
  const preload = (own: { js: string[]; css: string[] }) => ({
    js: unique([description.entry, ...description.module.js, ...own.js]).map(at),
    css: unique([...description.module.css, ...own.css]).map(at),
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
  const at = (path: string) => `/${buildFolder(record.id)}/${path}`;
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

/** Who may publish `account` must not become the host by calling that package one. Throws refused. */
function assertNamedByKind(records: readonly BuildRecord[]): void {
  const misnamed = records.find((record) => isHost(record) !== (record.description.name === HOST_NAME));
  if (misnamed)
    throw refused(
      say('misnamed', { build: misnamed.id, buildKind: misnamed.description.kind, name: HOST_NAME }),
      say('misnamedCure'),
    );
}

/** The set of these builds: exactly one host, at most one build per name. Throws refused. */
export function makeSet(records: readonly BuildRecord[]): SetBody {
  assertNamedByKind(records);
  const [host, second] = records.filter(isHost);
  if (second) throw refused(say('twoHosts', { build: second.id }), say('twoHostsCure'));
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
  const what = say('theSet', { hash });
  const cure = say('otherStateCure');
  const parsed = v.safeParse(setBodySchema, parseJson(source, what, cure));
  if (!parsed.success) throw refused(say('documentDamaged', { what }), cure, issuesOf(parsed.issues));
  if (setHash(parsed.output) !== hash) throw refused(say('setChanged', { hash }), cure);
  return parsed.output;
}
