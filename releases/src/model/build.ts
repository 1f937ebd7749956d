import semver from 'semver';
import { z } from 'zod';
import { messageOf, refused } from '../errors.ts';
import { buildId, isName, isVersion } from './ids.ts';
import { canonicalJson, sha256Hex } from './signing.ts';

const FILE_PATH = /^(?!.*(^|\/)\.)[A-Za-z0-9_@~+.()[\]-]+(\/[A-Za-z0-9_@~+.()[\]-]+)*$/;
const GLOBAL = /^[A-Za-z_$][\w$]{2,120}$/;
const text = (maximum: number) => z.string().min(1).max(maximum);

/** True for a path inside a build: relative, POSIX, no hidden parts, nothing that a URL would have to escape. */
export const isFilePath = (path: string): boolean => path.length <= 240 && FILE_PATH.test(path);

const filePath = z.string().refine(isFilePath, 'must be a plain relative path inside the build');
const range = z.string().refine((value) => semver.validRange(value) !== null, 'must be a semver range');
const version = z.string().refine((value) => semver.valid(value) !== null, 'must be a semantic version');
const needs = { js: z.array(filePath).max(40), css: z.array(filePath).max(40) };
const SEGMENT = String.raw`(?:(?!\.{1,2}(?:/|$))[\w.~-]+|:\w+\??|\*)`;
const routePath = z
  .string()
  .max(200)
  .regex(new RegExp(`^/(?:${SEGMENT}(?:/${SEGMENT})*)?$`), 'must be a path pattern such as /story/:id');

const routeSchema = z.object({
  name: text(60),
  path: routePath,
  title: z.string().max(60),
  requiresAuth: z.boolean(),
  keepAlive: z.boolean(),
  outsideShell: z.boolean(),
  ...needs,
});

const base = {
  name: z.string().refine(isName, 'must be lower-case letters, digits and dashes, beginning with a letter'),
  label: text(30),
  version: z.string().refine(isVersion, 'must be a semantic version without build metadata, such as 1.4.2'),
  sourceHash: z.string().regex(/^[0-9a-f]{8,64}$/, 'must be 8 to 64 lower-case hex digits'),
  federation: version,
  shared: z.object({ provides: z.record(z.string(), version), requires: z.record(z.string(), range) }),
  entry: filePath,
  css: z.array(filePath).default([]),
};

const globalName = z.string().regex(GLOBAL, 'must be a JavaScript identifier');

const remoteDescriptionSchema = z.object({
  ...base,
  kind: z.literal('remote'),
  contract: range,
  global: globalName,
  chunkGlobal: globalName,
  exposes: z.array(text(60)).max(20),
  module: z.object(needs),
  routes: z.array(routeSchema).max(200),
  slots: z.array(z.object({ name: text(60), ...needs })).max(100),
});

const hostDescriptionSchema = z.object({
  ...base,
  kind: z.literal('host'),
  contract: version,
  template: filePath,
  serviceWorker: filePath.optional(),
});

/** What a package build says of itself in `dist/liaozhai.json`. */
export const descriptionSchema = z.discriminatedUnion('kind', [remoteDescriptionSchema, hostDescriptionSchema]);

export type RemoteDescription = z.infer<typeof remoteDescriptionSchema>;
export type HostDescription = z.infer<typeof hostDescriptionSchema>;
export type BuildDescription = z.infer<typeof descriptionSchema>;
export type Route = z.infer<typeof routeSchema>;

const fileSchema = z.object({ integrity: z.string().regex(/^sha384-[\w+/]{64}$/), size: z.number().int().min(0) });
/** Provenance is no part of the hash, so a long name in it spoils nothing and is cut to what is shown. */
const cut = (length: number) => z.string().transform((told) => told.slice(0, length));
const recordSchema = z.object({
  format: z.literal(1),
  id: z.string(),
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  description: descriptionSchema,
  files: z.record(filePath, fileSchema),
  provenance: z.object({ commit: cut(80).nullable(), at: cut(40), publisher: cut(120) }),
});

export type Provenance = z.infer<typeof recordSchema>['provenance'];

/** `build.json`: everything known of a stored build. The digest covers description (but for the version) and files. */
export type BuildRecord = z.infer<typeof recordSchema>;
export type RemoteRecord = BuildRecord & { description: RemoteDescription };
export type HostRecord = BuildRecord & { description: HostDescription };

export const isHost = (record: BuildRecord): record is HostRecord => record.description.kind === 'host';
export const isRemote = (record: BuildRecord): record is RemoteRecord => record.description.kind === 'remote';

/** Problems of a value against a schema, one line each, with the place they are at. */
export const issuesOf = (error: z.ZodError): string[] =>
  error.issues.map((issue) => `${issue.path.join('.') || 'document'}: ${issue.message}`);

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
  const parsed = recordSchema.safeParse(parseJson(source, `build.json of ${expectedId}`));
  if (!parsed.success)
    throw refused(`build.json of ${expectedId} is damaged`, 'Publish the build again.', issuesOf(parsed.error));
  const record = parsed.data;
  const digest = digestOf(record.description, record.files);
  const id = buildId(record.description.name, record.description.version, digest);
  if (record.id !== expectedId || id !== expectedId || digest !== record.digest)
    throw refused(
      `build.json of ${expectedId} does not match its own hash`,
      'Publish the build again as a new version.',
    );
  return record;
}

/** JSON.parse that says which document is broken. Throws refused. */
export function parseJson(source: string, what: string, cure = ''): unknown {
  try {
    return JSON.parse(source);
  } catch (cause) {
    throw refused(`${what} is damaged: it is not JSON (${messageOf(cause)})`, cure);
  }
}

/** First segments of the paths that the product's server or a copied site answers itself: no remote's page can lie there. */
export const RESERVED_SEGMENTS: readonly string[] = [
  'api',
  'app',
  'beacon',
  'broadcasting',
  'builds',
  'channels',
  'sanctum',
  'static',
];
