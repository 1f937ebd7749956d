import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildDescription, isFilePath } from '@liaozhai/shared/contract';
import { lookup } from 'mrmime';
import * as v from 'valibot';
import { hasCode, refused, usage } from '../errors.ts';
import { descriptionSchema, issuesOf, parseJson } from '../model/build.ts';
import { isVersion } from '../model/ids.ts';

/** What one build may hold at most. */
export const LIMITS = { files: 2000, fileBytes: 10 * 1024 * 1024, buildBytes: 50 * 1024 * 1024 } as const;

const COMPRESSED = /\.(?:m?js|css|html|json|svg|txt|webmanifest)$/;

/** The media type a build's file is served with, or null if its ending is unknown. */
export function contentType(path: string): string | null {
  const type = lookup(path);
  if (!type) return null;
  return type.startsWith('text/') || type.endsWith('json') || type === 'image/svg+xml'
    ? `${type}; charset=utf-8`
    : type;
}

/** True for files that are stored compressed as well. */
export const isCompressed = (path: string): boolean => COMPRESSED.test(path);

/** The headers every file of a build is served with; encodings are chosen per request. */
export function buildFileHeaders(path: string): Record<string, string> {
  return {
    'content-type': contentType(path) ?? 'application/octet-stream',
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
}

async function pathsBelow(folder: string, inside = ''): Promise<string[]> {
  const entries = await readdir(join(folder, inside), { withFileTypes: true });
  const paths = await Promise.all(
    entries.map(async (entry) => {
      const path = inside ? `${inside}/${entry.name}` : entry.name;
      if (entry.isDirectory()) return pathsBelow(folder, path);
      if (entry.isFile()) return [path];
      throw refused(
        `${path} is a symbolic link or a special file`,
        'Builds hold plain files only: copy the file itself.',
      );
    }),
  );
  return paths.flat().sort();
}

/** Why a file may not be part of a build, or null. */
export function fileProblem(path: string, size: number): string | null {
  if (!isFilePath(path)) return `${path}: hidden files, "..", blanks and characters a URL must escape are not allowed`;
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

/** Checks a description and puts another version in, if asked. Throws refused, naming every missing field. */
function parseDescription(source: string, version?: string): BuildDescription {
  const value = parseJson(source, DESCRIPTION);
  if (version !== undefined && !isVersion(version))
    throw usage(`"${version}" is not a version`, 'Use a semantic version without build metadata, such as 1.4.2.');
  const parsed = v.safeParse(descriptionSchema, version && value instanceof Object ? { ...value, version } : value);
  if (parsed.success) return parsed.output;
  const cure =
    'Build with remoteConfig()/hostConfig() of shared/build, or write these fields: see "Other build tools" in docs/for-teams.md.';
  throw refused(`${DESCRIPTION} does not meet the contract`, cure, issuesOf(parsed.issues));
}

async function readDescription(folder: string, version?: string): Promise<BuildDescription> {
  const source = await readFile(join(folder, DESCRIPTION), 'utf8').catch((cause: unknown) => {
    if (!hasCode(cause, 'ENOENT', 'ENOTDIR')) throw cause;
    throw refused(
      `${folder} holds no ${DESCRIPTION}`,
      "Name the package's build output, usually dist (of this repository: remotes/<name>/dist), after building it.",
    );
  });
  return parseDescription(source, version);
}

/** Reads and checks a build output. Nothing is followed out of the folder. Throws refused with every problem found. */
export async function readPackage(folder: string, version?: string): Promise<BuiltPackage> {
  const description = await readDescription(folder, version);
  const paths = await pathsBelow(folder);
  const sizes = new Map<string, number>();
  for (const path of paths) sizes.set(path, (await lstat(join(folder, path))).size);
  const problems = packageProblems(description, sizes);
  if (problems.length > 0)
    throw refused(`${folder} cannot be published`, 'Mend the build and publish again.', problems);
  const files = new Map<string, Buffer>();
  for (const path of paths) files.set(path, await readFile(join(folder, path)));
  return { description, files };
}
