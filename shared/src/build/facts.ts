import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { GATE_FILE } from '../contract/gateFile.ts';

export const sharedRoot = join(import.meta.dirname, '../..');
export const repoRoot = join(sharedRoot, '..');

export interface PackageFacts {
  root: string;
  version: string;
  /** 12 hex digits; hash of everything that affects the package's output */
  sourceHash: string;
}

// a remote bundles the stateless folders of shared; the host also the runtime
const bundledFolders = {
  remote: ['contract', 'ui', 'format', 'build'],
  host: ['contract', 'runtime', 'ui', 'format', 'build'],
};

export const readManifest = (root: string) =>
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
    dependencies?: Record<string, string>;
  };

const existing = (root: string, names: string[]) => names.map((name) => join(root, name)).filter(existsSync);

/** Returns the facts of a package before its build; fast enough for every start. */
export function packageFacts(kind: 'host' | 'remote', root: string): PackageFacts {
  const packageFiles = existing(root, ['src', 'public', 'package.json', GATE_FILE, 'rsbuild.config.ts']);
  const sharedFolders = bundledFolders[kind].map((room) => join(sharedRoot, 'src', room));
  const versions = join(repoRoot, 'pnpm-workspace.yaml');
  const hash = sourceHash(repoRoot, [...packageFiles, ...sharedFolders, versions]);
  return { root, version: readManifest(root).version, sourceHash: hash };
}

const lockFiles = ['pnpm-lock.yaml', 'package-lock.json', 'yarn.lock', 'bun.lock'];

/** Lock file of the packages in this folder, from the folder or an ancestor. */
function lockFile(folder: string): string | undefined {
  const [lockPath] = existing(folder, lockFiles);
  return lockPath ?? (dirname(folder) === folder ? undefined : lockFile(dirname(folder)));
}

const ENVIRONMENT_FILES = ['.env', '.env.local', '.env.production', '.env.production.local'];

/** Folder of a package as resolved from `root`. */
export const installedFolder = (root: string, name: string): string | undefined =>
  (createRequire(join(root, 'package.json')).resolve.paths(name) ?? [])
    .map((folder) => join(folder, name))
    .find((folder) => existsSync(join(folder, 'package.json')));

/** Folders of linked libraries, e.g. in a monorepo: lock files do not cover their contents. */
function linkedFolders(root: string, visitedFolders = new Set<string>()): string[] {
  const { dependencies = {} } = readManifest(root);
  return Object.keys(dependencies).flatMap((name) => {
    const packageFolder = installedFolder(root, name);
    const folder = packageFolder && realpathSync(packageFolder);
    if (!folder || visitedFolders.has(folder) || /[\\/]node_modules[\\/]/.test(folder)) return [];
    visitedFolders.add(folder);
    return [folder, ...linkedFolders(folder, visitedFolders)];
  });
}

/** Facts of a remote in its own repository; its lock file identifies the bundled libraries. */
export function outsideFacts(root: string): PackageFacts {
  const isConfiguration = (name: string) => /^(rsbuild|rspack|webpack|vite)\.config\.\w+$/.test(name);
  const configurations = readdirSync(root).filter(isConfiguration).sort();
  const packageFiles = ['src', 'public', 'package.json', GATE_FILE, ...ENVIRONMENT_FILES, ...configurations];
  const lockPath = lockFile(root);
  const hash = digest(
    sourceHash(root, existing(root, packageFiles)),
    sourceHash(root, linkedFolders(root), EXCLUDED_FROM_LIBRARY),
    ...(lockPath ? [readFileSync(lockPath)] : []),
  );
  return { root, version: readManifest(root).version, sourceHash: hash };
}

/** Facts of a dev server's build. Its hash, and so every name, differs from the published build of the same sources. */
export const insideFacts = (facts: PackageFacts): PackageFacts => ({
  ...facts,
  sourceHash: digest('inside', facts.sourceHash),
});

const digest = (...parts: (string | Buffer)[]) =>
  parts
    .reduce((hash, part) => hash.update(part), createHash('sha256'))
    .digest('hex')
    .slice(0, 12);

/** Files that no build contains: tests, test helpers and documents. */
const EXCLUDED_FROM_BUILD = /^(node_modules|dist|\.rsbuild|testing)$|\.test\.tsx?$|[fF]ixtures?\.tsx?$|README\.md$/;
/** Like `EXCLUDED_FROM_BUILD`, but with a library's `dist`, which a remote bundles. */
const EXCLUDED_FROM_LIBRARY = /^(node_modules|\.\w+)$|\.test\.tsx?$|README\.md$/;

const filesBelow = (path: string, ignored: RegExp): string[] =>
  statSync(path).isFile()
    ? [path]
    : readdirSync(path)
        .filter((name) => !ignored.test(name))
        .sort()
        .flatMap((name) => filesBelow(join(path, name), ignored));

/**
 * Returns 12 hex digits over the names and contents of files and folders, without tests and READMEs. Chunk globals use it, so that
 * equal sources give equal output.
 */
export const sourceHash = (root: string, paths: string[], ignored = EXCLUDED_FROM_BUILD): string =>
  digest(
    ...paths
      .flatMap((path) => filesBelow(path, ignored))
      .flatMap((file) => [`${relative(root, file).replaceAll('\\', '/')}\0`, readFileSync(file), '\0']),
  );
