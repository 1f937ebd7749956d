import semver from 'semver';
import { usage } from '../errors.ts';

/** The builds with others of the same names put over them, ordered. */
export function mergeBuilds(builds: readonly string[], over: readonly string[]): string[] {
  const byName = new Map([...builds, ...over].map((id) => [nameOf(id), id]));
  return [...byName.values()].sort();
}

/** The same builds, in whatever order. */
export const sameBuilds = (a: readonly string[], b: readonly string[]): boolean =>
  [...a].sort().join() === [...b].sort().join();

const BUILD_ID = /^([a-z][a-z0-9-]{0,39})@([0-9A-Za-z.-]{1,80})\+([0-9a-f]{12})$/;
const HASH_LENGTH = 12;

interface BuildIdParts {
  name: string;
  version: string;
  hash: string;
}

/** True for a semantic version without build metadata, written the normal way. */
export const isVersion = (text: string): boolean =>
  text.length <= 80 && semver.valid(text) === text && !text.includes('+');

/** `stories@1.4.2+3f9c1a…`; the hash is the beginning of the content's digest. */
export const buildId = (name: string, version: string, digest: string): string =>
  `${name}@${version}+${digest.slice(0, HASH_LENGTH)}`;

/** The parts of a build id, or null if it is none. */
export function parseBuildId(id: string): BuildIdParts | null {
  const [, name, version, hash] = BUILD_ID.exec(id) ?? [];
  return name && version && hash && isVersion(version) ? { name, version, hash } : null;
}

/** The parts of a build id. Throws usage if it is none. */
export function buildIdParts(id: string): BuildIdParts {
  const parts = parseBuildId(id);
  if (parts) return parts;
  throw usage(
    `"${id}" is not a build id`,
    'Build ids look like stories@1.4.2 or stories@1.4.2+3f9c1a7b20de; list them with `builds`.',
  );
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
