// `pnpm packages [folder] [--publish <registry>]`: packs this repository's sources into the packages that teams without access to
// it need, and publishes them to a registry.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { load } from 'js-yaml';

const folder = import.meta.dirname;
const root = join(folder, '../..');

interface Contents {
  /** Source files from which all others of the package are reachable; paths from the repository's root. */
  entries: string[];
  /** Folders whose files are included in the package; others are imported from the package that contains them. */
  rooms: string[];
  /** Files that are copied unchanged. */
  assets?: string[];
}

/** Contents by package. The rest of a package's manifest is in its folder next to this file. */
const contents: Record<string, Contents> = {
  runtime: {
    entries: ['contract', 'format', 'runtime'].map((room) => `shared/src/${room}/index.ts`),
    rooms: ['shared/src/contract', 'shared/src/format', 'shared/src/runtime'],
  },
  ui: {
    entries: ['shared/src/ui/index.ts'],
    rooms: ['shared/src/ui'],
    assets: ['shared/src/ui/tokens.css', 'shared/src/ui/base.css'],
  },
  testing: {
    entries: ['shared/src/testing/index.ts', 'shared/src/testing/setup.ts'],
    rooms: ['shared/src/testing'],
  },
  build: {
    entries: [
      'shared/src/build/rsbuildRemote.ts',
      'shared/src/build/remotePlugin.ts',
      'shared/src/build/vitePlugin.ts',
      'shared/src/floorCheck/checkFloor.ts',
      'shared/src/standAlone/openStandAlone.tsx',
    ],
    rooms: ['shared/src/build', 'shared/src/contract', 'shared/src/floorCheck', 'shared/src/standAlone'],
    assets: ['shared/src/build/retriedImports.js'],
  },
  releases: {
    entries: ['releases/cli/main.ts', 'releases/src/releaseClient.ts'],
    rooms: ['releases/cli', 'releases/src', 'shared/src/contract'],
  },
  'create-liaozhai-remote': {
    entries: ['templates/newRemote.ts'],
    rooms: ['templates', 'shared/src/build', 'shared/src/contract'],
  },
};

/** Module names that a bundler resolves. */
const ambient = new Set(['liaozhai-remote']);

/** Import names inside the repository → public import names. */
export const publicNames: [own: string, name: string][] = [
  ['@liaozhai/shared/contract', '@liaozhai/runtime/contract'],
  ['@liaozhai/shared/format', '@liaozhai/runtime/format'],
  ['@liaozhai/shared/runtime', '@liaozhai/runtime'],
  ['@liaozhai/shared/ui', '@liaozhai/ui'],
  ['@liaozhai/shared/testing', '@liaozhai/testing'],
];

/** Matches every module specifier in scripts, declarations and type imports of comments, but no `Buffer.from('…')`. */
const specifiers = /((?<!\.)\b(?:from|import)\s*|\bimport\s*\(\s*(?:\/\*.*?\*\/\s*)?)(['"])([\w@./-]+)\2/g;

const readJson = <Content>(path: string) => JSON.parse(readFileSync(path, 'utf8')) as Content;

/** Compiles all sources reachable from the entries into scripts and declarations, in the folder structure of the sources. */
function compile(): string {
  const out = mkdtempSync(join(tmpdir(), 'liaozhai-packages-'));
  const config = join(out, 'tsconfig.json');
  const ambientTypes = ['ui/assets.d.ts', 'build/prerendered.d.ts', 'standAlone/liaozhaiRemote.d.ts'];
  const files = [
    ...Object.values(contents).flatMap(({ entries }) => entries),
    ...ambientTypes.map((file) => `shared/src/${file}`),
  ].map((file) => join(root, file));
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    outDir: out,
    rootDir: root,
    typeRoots: [join(root, 'node_modules/@types')],
  };
  writeFileSync(config, JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files }));
  const manifest = createRequire(join(root, 'package.json')).resolve('typescript/package.json');
  const tsc = join(dirname(manifest), readJson<{ bin: { tsc: string } }>(manifest).bin.tsc);
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', config], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the sources do not compile:\n${stdout}`);
  return out;
}

const toPackagePath = (path: string) => path.replace(/^(shared\/src|releases|templates)\//, '');

/** Public import name of a file in another package. */
function publicImport(path: string): string {
  const [, room = '', file = ''] = /^shared\/src\/(\w+)\/(.+?)(?:\.d\.ts|\.js)?$/.exec(path) ?? [];
  if (room === 'runtime') return file === 'index' ? '@liaozhai/runtime' : `@liaozhai/runtime/internals/${file}`;
  if (room === 'contract' || room === 'format') return `@liaozhai/runtime/${room}`;
  if (room === 'ui') return file === 'index' ? '@liaozhai/ui' : `@liaozhai/ui/${file}`;
  throw new Error(`no package has ${path}: give it a room in templates/packages/pack.ts`);
}

/** Copies a package's files from the compiled sources and rewrites their imports for the package's layout. */
class Assembly {
  readonly imported = new Set<string>();
  readonly #addedPaths = new Set<string>();

  constructor(
    private readonly compiled: string,
    private readonly rooms: string[],
    private readonly dist: string,
  ) {}

  add(path: string) {
    if (this.#addedPaths.has(path)) return;
    this.#addedPaths.add(path);
    const isCompiled = existsSync(join(this.compiled, path));
    const text = readFileSync(join(isCompiled ? this.compiled : root, path), 'utf8');
    const rewritten = isCompiled
      ? text.replace(specifiers, (all, before: string, quote: string, name: string) => {
          const renamed = this.#rename(path, name);
          return renamed === undefined ? all : `${before}${quote}${renamed}${quote}`;
        })
      : text;
    const target = join(this.dist, toPackagePath(path));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, rewritten);
    if (path.endsWith('.js') && isCompiled) this.add(path.replace(/\.js$/, '.d.ts'));
  }

  #rename(from: string, name: string): string | undefined {
    const path = this.#resolve(from, name);
    if (path === undefined) {
      if (name.startsWith('.')) throw new Error(`${from} imports ${name}, which is no source file`);
      const [scope = '', second = ''] = name.split('/');
      const bare = scope.startsWith('@') ? `${scope}/${second}` : scope;
      if (!name.startsWith('node:') && !ambient.has(name))
        this.imported.add(from.endsWith('.d.ts') && bare === 'react' ? '@types/react' : bare);
      return undefined;
    }
    if (!this.rooms.some((room) => path.startsWith(`${room}/`))) {
      const publicName = publicImport(path);
      this.imported.add(publicName.split('/').slice(0, 2).join('/'));
      return publicName;
    }
    this.add(path);
    const relativePath = posix
      .relative(posix.dirname(toPackagePath(from)), toPackagePath(path))
      .replace(/\.d\.ts$/, '.js');
    return relativePath.startsWith('.') ? relativePath : `./${relativePath}`;
  }

  /** Path in the repository to which a specifier resolves; undefined for external modules. */
  #resolve(from: string, name: string): string | undefined {
    const [, room] = /^@liaozhai\/shared\/(\w+)$/.exec(name) ?? [];
    const base = room ? `shared/src/${room}` : name.startsWith('.') ? posix.join(posix.dirname(from), name) : undefined;
    if (base === undefined) return undefined;
    if (base.endsWith('.css')) return base;
    const stem = base.replace(/\.[jt]sx?$/, '');
    const extension = from.endsWith('.d.ts') ? '.d.ts' : '.js';
    return [`${stem}${extension}`, `${stem}/index${extension}`].find((path) => existsSync(join(this.compiled, path)));
  }
}

interface Manifest {
  name: string;
  version?: string;
  exports: Record<string, unknown>;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  [field: string]: unknown;
}

const { catalog } = load(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')) as {
  catalog: Record<string, string>;
};

/** Version of all packages: that of `shared`, whose contract they follow. */
export const packagesVersion = readJson<{ version: string }>(join(root, 'shared/package.json')).version;

function range(name: string, kind: string): string {
  if (kind === 'own') return `^${packagesVersion}`;
  // other ranges are used as written, since they do not depend on the product's version
  if (kind !== 'catalog:' && kind !== 'exact') return kind;
  const version = catalog[name];
  if (!version) throw new Error(`pnpm-workspace.yaml has no ${name} in its catalog: add it`);
  return kind === 'exact' ? version : `^${version}`;
}

const withRanges = (specifiersByName: Record<string, string> = {}) =>
  Object.fromEntries(Object.entries(specifiersByName).map(([name, kind]) => [name, range(name, kind)]));

const withTypes = (entry: unknown) =>
  typeof entry === 'string' && entry.endsWith('.js')
    ? { types: entry.replace(/\.js$/, '.d.ts'), default: entry }
    : entry;

function writeManifest(name: string, target: string, imported: Set<string>): void {
  const manifest = readJson<Manifest>(join(folder, name, 'package.json'));
  const dependencies = withRanges(manifest.dependencies);
  const peerDependencies = withRanges(manifest.peerDependencies);
  const missing = [...imported].filter(
    (each) => each !== manifest.name && !(each in { ...dependencies, ...peerDependencies }),
  );
  if (missing.length > 0) throw new Error(`${manifest.name} imports ${missing.join(', ')}: declare it in its manifest`);
  const exports = Object.fromEntries(Object.entries(manifest.exports).map(([path, entry]) => [path, withTypes(entry)]));
  const packedManifest = {
    ...manifest,
    version: packagesVersion,
    exports: { ...exports, './package.json': './package.json' },
    files: ['dist', 'template', 'CHANGELOG.md'],
    dependencies,
    peerDependencies,
  };
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(packedManifest, null, 2)}\n`);
}

/** Writes the template of a new repository: `templates/outside`, and the sources of `templates/remote` with public import names. */
function writeTemplate(target: string): void {
  cpSync(join(root, 'templates/outside'), target, { recursive: true });
  for (const folder of ['.', ...readdirSync(join(target, 'bundlers')).map((name) => `bundlers/${name}`)]) {
    const file = join(target, folder, 'package.json');
    const manifest = readJson<Manifest>(file);
    for (const dependencies of [manifest.dependencies ?? {}, manifest.devDependencies ?? {}])
      for (const name of Object.keys(dependencies))
        dependencies[name] = name.startsWith('@liaozhai/') ? '*' : range(name, dependencies[name] || 'exact');
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  }
  for (const part of ['src', 'gate.json'])
    cpSync(join(root, 'templates/remote', part), join(target, part), { recursive: true });
  for (const entry of readdirSync(join(target, 'src'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      publicNames.reduce((changed, [own, name]) => changed.replaceAll(`'${own}'`, `'${name}'`), text),
    );
  }
}

function assemble(name: string, compiled: string, target: string): void {
  const { entries, rooms, assets = [] } = contents[name] as Contents;
  const assembly = new Assembly(compiled, rooms, join(target, 'dist'));
  for (const entry of entries) assembly.add(entry.replace(/\.tsx?$/, '.js'));
  for (const asset of assets) assembly.add(asset);
  writeManifest(name, target, assembly.imported);
  if (name === 'create-liaozhai-remote') writeTemplate(join(target, 'template'));
  cpSync(join(folder, name, 'README.md'), join(target, 'README.md'));
  cpSync(join(folder, 'CHANGELOG.md'), join(target, 'CHANGELOG.md'));
  cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
}

async function npm(args: string[], cwd = root) {
  const child = spawn('npm', args, { cwd, shell: process.platform === 'win32' });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const status = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  return { status, stdout, stderr };
}

async function pack(name: string, compiled: string, out: string): Promise<[name: string, tarball: string]> {
  const target = join(compiled, 'packages', name);
  assemble(name, compiled, target);
  const { status, stdout, stderr } = await npm(['pack', '--json', '--pack-destination', out], target);
  if (status !== 0) throw new Error(`${name} cannot be packed:\n${stderr}`);
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return [name, join(out, filename)];
}

/** Packs every package into `out` and returns the paths of the tarballs, by package. */
export async function packPackages(out: string): Promise<Record<string, string>> {
  const compiled = compile();
  try {
    mkdirSync(out, { recursive: true });
    for (const file of readdirSync(out).filter((each) => each.endsWith('.tgz'))) rmSync(join(out, file));
    return Object.fromEntries(await Promise.all(Object.keys(contents).map((name) => pack(name, compiled, out))));
  } finally {
    rmSync(compiled, { recursive: true, force: true });
  }
}

/** States why a package was not published and how to fix it. */
class RefusedError extends Error {}

/** Hash of a version's tarball in the registry; undefined if the version is not published. */
async function publishedIntegrity(id: string, source: string[]): Promise<string | undefined> {
  const { stdout, stderr } = await npm(['view', id, 'dist.integrity', '--json', '--prefer-online', ...source]);
  const result = (stdout.trim() ? JSON.parse(stdout) : '') as string | { error: { code: string; summary: string } };
  if (typeof result === 'string') return result || undefined;
  if (result.error.code === 'E404') return undefined;
  throw new RefusedError(`the registry cannot be queried for ${id}: ${result.error.summary || stderr}`);
}

/**
 * Publishes tarballs with npm's own authentication, dependencies first; published versions are skipped.
 * @throws RefusedError if the registry refuses, or has the version with other contents.
 */
export async function publishPackages(tarballs: Record<string, string>, registry: string): Promise<void> {
  // the second option overrides a registry that is configured for the scope
  const source = [`--registry=${registry}`, `--@liaozhai:registry=${registry}`];
  for (const [name, file] of Object.entries(tarballs)) {
    const id = `${readJson<Manifest>(join(folder, name, 'package.json')).name}@${packagesVersion}`;
    const tarballHash = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
    const publishedHash = await publishedIntegrity(id, source);
    if (publishedHash && publishedHash !== tarballHash)
      throw new RefusedError(
        `${registry} has ${id} with other contents: raise the version in shared/package.json, and say in CHANGELOG.md what changed`,
      );
    if (!publishedHash) {
      const { status, stderr } = await npm(['publish', file, '--loglevel=error', ...source]);
      if (status !== 0)
        throw new RefusedError(`${id} was not published; sign in with: npm login --registry ${registry}\n${stderr}`);
    }
    console.log(`${id} ${publishedHash ? 'was there already' : 'is published'}`);
  }
}

const isAddress = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

async function main(args: string[]) {
  const { positionals, values } = parseArgs({ args, options: { publish: { type: 'string' } }, allowPositionals: true });
  const { publish } = values;
  if (publish !== undefined && !isAddress(publish))
    throw new RefusedError(`"${publish}" is no registry: give its address, such as --publish https://npm.example`);
  const tarballs = await packPackages(resolve(positionals[0] ?? join(folder, 'dist')));
  for (const file of Object.values(tarballs)) console.log(relative(process.cwd(), file));
  if (publish !== undefined) await publishPackages(tarballs, publish);
}

const [, script, ...args] = process.argv;
if (script && import.meta.url === pathToFileURL(script).href) {
  try {
    await main(args);
  } catch (cause) {
    if (!(cause instanceof RefusedError)) throw cause;
    console.error(cause.message);
    process.exitCode = 1;
  }
}
