#!/usr/bin/env node
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { REMOTE_NAME, type RegisteredRemote, registeredRemotes } from '../shared/src/build/registry.ts';
import { hostRoutePaths, paths, reservedSegments } from '../shared/src/contract/addresses.ts';

// root of the repository, or of the package create-liaozhai-remote, whose dist contains this file
const rootFolder = join(import.meta.dirname, '..');
const isPackage = existsSync(join(rootFolder, 'template'));

/** States why a remote was not created and how to fix it; nothing has been written. */
export class RefusedError extends Error {}

const screenPaths = [...Object.values(paths).map((path) => path('id')), ...Object.values(hostRoutePaths)];
// first path segments that the server, the host and the first remotes use, and names with another meaning here
const reservedNames = [
  ...reservedSegments,
  ...screenPaths.map((path) => path.split('/')[1]),
  ...['constructor', 'host', 'sample', 'shared', 'templates'],
];

function assertName(name: string) {
  if (!REMOTE_NAME.test(name)) {
    throw new RefusedError(
      `"${name}" cannot name a remote: use 2 to 24 small letters and digits, a letter first (gifts)`,
    );
  }
  if (reservedNames.includes(name))
    throw new RefusedError(`"${name}" is taken by the product itself: choose another name`);
}

function assertLabel(label: string) {
  if (!/^[\p{L}\p{N}·]{1,12}$/u.test(label)) {
    throw new RefusedError(
      `"${label}" cannot be the label: use 1 to 12 letters or digits, in Chinese as people read it (礼物)`,
    );
  }
}

function freePort(remotes: RegisteredRemote[]): number {
  const usedPorts = new Set(remotes.map((remote) => remote.devPort));
  let port = 3101;
  while (usedPorts.has(port)) port += 1;
  return port;
}

/** Replaces `sample`, `Sample` and 样例 in the template's texts and file names with name and label. */
function personalise(folder: string, name: string, label: string) {
  const capitalised = name.charAt(0).toUpperCase() + name.slice(1);
  const fillIn = (text: string) =>
    text.replaceAll('sample', name).replaceAll('Sample', capitalised).replaceAll('样例', label);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    writeFileSync(file, fillIn(readFileSync(file, 'utf8')));
    renameSync(file, join(entry.parentPath, fillIn(entry.name)));
  }
}

function readRegistry(root: string): RegisteredRemote[] {
  try {
    return registeredRemotes(root);
  } catch (cause) {
    throw new RefusedError((cause as Error).message);
  }
}

/**
 * Copies the template to `remotes/<name>` and registers it in `remotes.json`.
 * @throws RefusedError before anything is written, if name or label are invalid or taken.
 */
export function createRemote({ root, name, label }: { root: string; name: string; label: string }): RegisteredRemote {
  assertName(name);
  assertLabel(label);
  const remotes = readRegistry(root);
  if (remotes.some((remote) => remote.name === name)) {
    throw new RefusedError(`remotes.json knows "${name}" already: choose another name`);
  }
  const folder = join(root, 'remotes', name);
  if (existsSync(folder)) throw new RefusedError(`remotes/${name} exists already: remove it or choose another name`);
  const remote = { name, label, owner: `${name} team`, devPort: freePort(remotes) };
  cpSync(join(rootFolder, 'templates/remote'), folder, {
    recursive: true,
    filter: (source) => !['node_modules', 'dist'].includes(basename(source)),
  });
  personalise(folder, name, label);
  writeFileSync(join(root, 'remotes.json'), `${JSON.stringify([...remotes, remote], null, 2)}\n`);
  return remote;
}

/** Supported bundlers; each has its files in the template's folder `bundlers`. */
export const bundlers = ['rsbuild', 'webpack', 'vite'] as const;

type Bundler = (typeof bundlers)[number];

function toBundler(text: string): Bundler {
  const bundler = bundlers.find((each) => each === text);
  if (!bundler) throw new RefusedError(`"${text}" is no bundler that is known here: use ${bundlers.join(', ')}`);
  return bundler;
}

interface Repository {
  /** Must not exist yet, or must be empty. */
  folder: string;
  name: string;
  label: string;
  /** Folder with the packages' tarballs, if no registry provides them. */
  packages?: string;
  /** The packages' registry, stored for installs where it is not configured, e.g. by colleagues and pipelines. */
  registry?: string;
  /** Defaults to `rsbuild`. */
  bundler?: string;
}

function tarballIn(packages: string, name: string): string {
  const prefix = `${name.slice(1).replace('/', '-')}-`;
  const isFolder = statSync(packages, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const file = (isFolder ? readdirSync(packages) : []).find((each) => each.startsWith(prefix) && each.endsWith('.tgz'));
  if (file) return file;
  throw new RefusedError(`${packages} has no ${prefix}….tgz: name the folder that the packages were packed into`);
}

/** Returns a package's version range, or the path of its tarball, which is copied into the repository so that clones have it. */
function specifier(name: string, range: string, { folder, packages }: Repository): string {
  if (!packages) return range;
  const file = tarballIn(packages, name);
  cpSync(join(packages, file), join(folder, 'packages', file));
  return `file:packages/${file}`;
}

type Manifest = Record<string, Record<string, string>>;

const readManifest = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

const sortKeys = (entries: Record<string, string>) =>
  Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Copies the files of a bundler over the common ones and merges both manifests. */
function addBundler(folder: string, bundler: Bundler): void {
  const bundlersFolder = join(folder, 'bundlers');
  const manifest = readManifest(folder);
  const bundlerManifest = readManifest(join(bundlersFolder, bundler));
  Object.assign(manifest, {
    scripts: { ...bundlerManifest.scripts, ...manifest.scripts },
    devDependencies: sortKeys({ ...manifest.devDependencies, ...bundlerManifest.devDependencies }),
  });
  cpSync(join(bundlersFolder, bundler), folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  rmSync(bundlersFolder, { recursive: true });
}

function writeManifest(repository: Repository): void {
  const manifest = readManifest(repository.folder);
  const { version } = JSON.parse(readFileSync(join(rootFolder, 'package.json'), 'utf8')) as { version: string };
  for (const field of ['dependencies', 'devDependencies'])
    for (const name of Object.keys(manifest[field] ?? {}).filter((each) => each.startsWith('@liaozhai/')))
      Object.assign(manifest[field] ?? {}, { [name]: specifier(name, `^${version}`, repository) });
  writeFileSync(join(repository.folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/**
 * Creates a repository for one remote from the package's template.
 * @throws RefusedError before anything is written, if name or label are invalid or the folder is not empty.
 */
export function createRepository(repository: Repository): void {
  const { folder, name, label } = repository;
  assertName(name);
  assertLabel(label);
  const bundler = toBundler(repository.bundler ?? 'rsbuild');
  const existingEntry = statSync(folder, { throwIfNoEntry: false });
  if (existingEntry && (!existingEntry.isDirectory() || readdirSync(folder).length > 0))
    throw new RefusedError(`${folder} is not an empty folder: choose another one`);
  if (repository.packages) tarballIn(repository.packages, '@liaozhai/runtime');
  cpSync(join(rootFolder, 'template'), folder, { recursive: true });
  // npm excludes files named `.gitignore` from packages
  renameSync(join(folder, '_gitignore'), join(folder, '.gitignore'));
  addBundler(folder, bundler);
  personalise(folder, name, label);
  writeManifest(repository);
  const { registry, packages } = repository;
  if (registry && !packages) writeFileSync(join(folder, '.npmrc'), `@liaozhai:registry=${registry}\n`);
}

const nextSteps = ({
  name,
  label,
  devPort,
}: RegisteredRemote) => `remotes/${name} (${label}) is ready and registered in remotes.json.

  pnpm install                                links it into the workspace
  npx rstest run remotes/${name}
  pnpm --filter @liaozhai/${name} dev         alone at http://localhost:${devPort}, with a running pnpm start
  pnpm start                                  in the product, at /${name} and in the list at /test/list

Then: write its README, replace the example endpoint, release it with its own token (docs/).`;

function main([name, label, ...rest]: string[]) {
  if (!name || !label || rest.length > 0) {
    console.error('usage: pnpm new-remote <name> <label>      for example: pnpm new-remote gifts 礼物');
    process.exit(2);
  }
  console.log(nextSteps(createRemote({ root: rootFolder, name, label })));
}

const usage = `usage: npm create liaozhai-remote <name> <label> [-- <options>]
options: --bundler ${bundlers.join('|')}   --folder <folder>   --packages <folder with tarballs>
for example: npm create liaozhai-remote gifts 礼物 -- --bundler vite`;

function exitWithUsage(problem = ''): never {
  if (problem) console.error(problem);
  console.error(usage);
  process.exit(2);
}

function parseOutsideArgs(args: string[]) {
  const text = { type: 'string' } as const;
  const help = { type: 'boolean', short: 'h' } as const;
  try {
    return parseArgs({ args, options: { packages: text, folder: text, bundler: text, help }, allowPositionals: true });
  } catch (cause) {
    return exitWithUsage((cause as Error).message);
  }
}

function mainOutside(args: string[]) {
  const { positionals, values } = parseOutsideArgs(args);
  if (values.help) return console.log(usage);
  const [name, label, ...rest] = positionals;
  if (!name || !label) return exitWithUsage('a name and a label are required');
  if (rest.length > 0) return exitWithUsage(`unexpected: ${rest.join(' ')} (npx takes options without --)`);
  const folder = resolve(values.folder ?? name);
  const { packages, bundler } = values;
  // npm passes its registry setting to the programs it runs
  const registry = process.env.npm_config_registry;
  createRepository({ folder, name, label, bundler, registry, packages: packages && resolve(packages) });
  console.log(
    `${folder} is ready. Next:\n\n  cd ${relative('.', folder) || '.'}\n  npm install\n  npm test\n\nThen follow its README.`,
  );
}

const [, script] = process.argv;
// npm runs this file through a symbolic link
if (script && import.meta.url === pathToFileURL(realpathSync(script)).href) {
  const args = process.argv.slice(2);
  try {
    if (isPackage) mainOutside(args);
    else main(args);
  } catch (cause) {
    if (!(cause instanceof RefusedError)) throw cause;
    console.error(cause.message);
    process.exit(1);
  }
}
