import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Script } from 'node:vm';
import { type BuildDescription, GATE_FILE, isFilePath, MAX_PATH } from '@liaozhai/shared/contract';
import { parse } from 'acorn';
import { hasCode, messageOf, refused, usage } from '../errors.ts';
import { type BuildRecord, descriptionSchema, isVersion, makeRecord, type Provenance } from '../model/build.ts';
import { jsonOrNull, parseAs, parseJson } from '../model/documents.ts';
import { sha384Integrity } from '../model/signing.ts';
import { contentType } from './files.ts';
import { readGateFile } from './gateFile.ts';
import { BROKEN_CURE, describeGuest, GUEST_CURE } from './guest.ts';
import { isSourceMap, toStoredMap } from './sourceMaps.ts';

export const LIMITS = { files: 2000, fileBytes: 10 * 1024 * 1024, buildBytes: 50 * 1024 * 1024 } as const;

const DESCRIPTION_FILE = 'liaozhai.json';
const RESERVED = /(?:^build\.json|\.br|\.gz)$/;

/** A built package in memory: its description and every file by its path inside `dist`. */
export interface BuiltPackage {
  description: BuildDescription;
  files: Map<string, Buffer>;
  /** Source maps as stored, by path inside `dist`. They are not part of the build, so its digest ignores them. */
  maps: Map<string, string>;
}

/** Returns a package's record without storing it. */
export function recordOf({ description, files }: BuiltPackage, provenance: Provenance): BuildRecord {
  const entries = [...files].map(([path, body]) => [path, { integrity: sha384Integrity(body), size: body.length }]);
  return makeRecord(description, Object.fromEntries(entries), provenance);
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
  const described = version && value instanceof Object ? { ...value, version } : value;
  return parseAs(descriptionSchema, described, 'the description of the build does not meet the contract', cure);
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

/** Reads and checks a build output, which may not contain symbolic links, or change meanwhile. Throws refused with every problem. */
export async function readPackage(folder: string, version?: string): Promise<BuiltPackage> {
  const description = await readDescription(folder, version);
  const changedError = () =>
    refused(`${folder} changed while it was read`, 'Publish it again once nothing writes there any more.');
  try {
    const before = await stampsOf(folder);
    const built = await readFiles(folder, description, before);
    if (!isDeepStrictEqual(before, await stampsOf(folder))) throw changedError();
    return built;
  } catch (cause) {
    throw hasCode(cause, 'ENOENT', 'ENOTDIR') ? changedError() : cause;
  }
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

/** Start of a web page, which servers send in place of a missing file. */
const MARKUP = /^\s*<(?:!doctype|!--|html|head|body)/i;
/** Endings of files that may start like one. */
const MARKUP_ENDING = /\.(?:html|svg|xml|txt|md)$/;
/** What opens or closes a part of a stylesheet; a quoted address is a string. */
const CSS_TOKEN = /\\[^*]|["'{}]|\/\*|\*\/|url\((?!\s*["'])|\)/g;
/** Parts in which other tokens count as text, and their ends. */
const TEXT_ENDS: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['/*', '*/'],
  ['url(', ')'],
]);

const parseScript = (source: string): unknown => new Script(source);
const parseModule = (source: string): unknown => parse(source, { ecmaVersion: 'latest', sourceType: 'module' });

/** Parses a script, without running it. Returns why that failed, or null. */
function parseFailure(source: string, parsers: readonly ((source: string) => unknown)[]): string | null {
  let failure: string | null = null;
  for (const parser of parsers)
    try {
      parser(source);
      return null;
    } catch (cause) {
      failure = messageOf(cause);
    }
  return failure;
}

function scriptProblem(description: BuildDescription, path: string, source: string): string | null {
  const isEntry = path === description.entry;
  const isModule = description.kind === 'remote' && description.entryType === 'module';
  // bundlers may emit an empty ES module, but no empty script
  if (source.trim() === '' && (isEntry || !isModule)) return `${path} is empty`;
  const failure = parseFailure(source, isEntry ? [isModule ? parseModule : parseScript] : [parseScript, parseModule]);
  return failure === null ? null : `${path} does not parse (${failure}): it may be cut off`;
}

function stylesheetProblem(path: string, source: string): string | null {
  let depth = 0;
  let textEnd: string | undefined;
  for (const [token] of source.matchAll(CSS_TOKEN))
    if (textEnd) textEnd = token === textEnd ? undefined : textEnd;
    else {
      textEnd = TEXT_ENDS.get(token);
      depth += token === '{' ? 1 : token === '}' ? -1 : 0;
    }
  return textEnd || depth > 0 ? `${path} ends inside a rule, comment or string: it may be cut off` : null;
}

/** Why a file is not what its name says, as after a failed build or download; or null. */
export function contentProblem(description: BuildDescription, path: string, body: Buffer): string | null {
  if (MARKUP.test(body.subarray(0, 200).toString()) && !MARKUP_ENDING.test(path)) return `${path} is a web page`;
  const [, ending] = /\.(js|mjs|css)$/.exec(path) ?? [];
  if (!ending) return null;
  const source = body.toString('utf8');
  if (jsonOrNull(source) instanceof Object) return `${path} is JSON`;
  return ending === 'css' ? stylesheetProblem(path, source) : scriptProblem(description, path, source);
}

async function pathsBelow(folder: string, subfolder = ''): Promise<string[]> {
  const entries = await readdir(join(folder, subfolder), { withFileTypes: true });
  const paths = await Promise.all(
    entries.map(async (entry) => {
      const path = subfolder ? `${subfolder}/${entry.name}` : entry.name;
      // Vite writes its own manifest there, for servers
      if (path === '.vite') return [];
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

/** Path inside the folder → size, and what differs after the file was rewritten. */
async function stampsOf(folder: string) {
  const stamps = new Map<string, { size: number; mtimeMs: number; ino: number }>();
  for (const path of await pathsBelow(folder)) {
    const { size, mtimeMs, ino } = await lstat(join(folder, path));
    stamps.set(path, { size, mtimeMs, ino });
  }
  return stamps;
}
