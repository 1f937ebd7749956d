import {
  type BuildDescription,
  buildFileSchema,
  dictionarySchema,
  digestSchema,
  filePathSchema,
  type HostDescription,
  hostDescriptionSchema,
  type RemoteDescription,
  remoteDescriptionSchema,
} from '@liaozhai/shared/contract';
import semver from 'semver';
import * as v from 'valibot';
import { messageOf, refused } from '../errors.ts';
import { buildId, isVersion } from './ids.ts';
import { canonicalJson, sha256Hex } from './signing.ts';

const range = v.pipe(
  v.string(),
  v.check((text) => semver.validRange(text) !== null, 'must be a semver range'),
);
const version = v.pipe(
  v.string(),
  v.check((text) => semver.valid(text) !== null, 'must be a semantic version'),
);

/** What only semver can tell of every description. */
const checked = {
  version: v.pipe(v.string(), v.check(isVersion, 'must be a semantic version without build metadata, such as 1.4.2')),
  federation: version,
  shared: v.object({ provides: dictionarySchema(v.string(), version), requires: dictionarySchema(v.string(), range) }),
};

/** What a package build says of itself in `dist/liaozhai.json`: the contract's form, its versions and ranges checked. */
export const descriptionSchema = v.variant('kind', [
  v.object({ ...remoteDescriptionSchema.entries, ...checked, contract: range }),
  v.object({ ...hostDescriptionSchema.entries, ...checked, contract: version }),
]);

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
  description: descriptionSchema,
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
  issues.map((issue) => `${v.getDotPath(issue) || 'document'}: ${issue.message}`);

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
  const parsed = v.safeParse(
    recordSchema,
    parseJson(source, `build.json of ${expectedId}`, 'Publish the build again.'),
  );
  if (!parsed.success)
    throw refused(`build.json of ${expectedId} is damaged`, 'Publish the build again.', issuesOf(parsed.issues));
  const record = parsed.output;
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
    throw refused(`${what} is damaged: it is not JSON (${messageOf(cause).replace(/\s+/g, ' ')})`, cure);
  }
}
