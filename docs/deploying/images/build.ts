// `node host/server/run.mjs docs/deploying/images/build.ts <front|backend|console> <folder>`: builds a server as JavaScript with the packages
// it loads, and nothing else. The Dockerfile's build stage runs it. Versions are those of the lock file, since packages are copied from
// its installation.
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('../../..', import.meta.url));

interface Server {
  /** Name of the built file → source. */
  entries: Record<string, string>;
  /** Place in the folder → what is copied there. The code finds them relative to `js/server`. */
  files: Record<string, string>;
  /** Packages of which it reads files. */
  packages?: Record<string, string>;
}

const servers: Record<string, Server> = {
  front: {
    entries: { main: 'host/server/main.ts' },
    files: { 'js/server/siteConfig.json': 'host/server/siteConfig.json' },
  },
  backend: {
    entries: {
      main: 'backend/src/main.ts',
      command: 'backend/src/command.ts',
      postgresWorker: 'backend/src/db/postgresWorker.mjs',
    },
    packages: { '@expo-google-fonts/zcool-xiaowei': 'backend' },
    files: { content: 'backend/content', prompts: 'backend/prompts', 'openapi.json': 'backend/openapi.json' },
  },
  console: {
    entries: { main: 'releases/console/server/main.ts', release: 'releases/cli/main.ts' },
    files: { 'js/dist': 'releases/console/dist' },
  },
};

/** They build or open pages, which an image does not: the code loads them where somebody asks for that. */
const LEFT_OUT = ['@rsbuild/core', 'playwright'];

/** The product's own packages go into the built files; all others stay packages. */
const ownPackages: Plugin = {
  name: 'own packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@liaozhai/') ? undefined : { path, external: true },
    );
  },
};

const packageName = (path: string): string => path.split('/', path.startsWith('@') ? 2 : 1).join('/');

/** The folder of a package as code in `from` finds it; undefined for an optional one of another system. */
function folderOf(name: string, from: string): string | undefined {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return realpathSync(folder);
  return dirname(from) === from ? undefined : folderOf(name, dirname(from));
}

interface Wanted {
  name: string;
  /** The folder of the code that loads it. */
  from: string;
  /** The copied package that loads it. */
  user: string;
}

/** Copies packages with what they depend on, side by side; a second version of one stands within the package that needs it. */
function copyPackages(wanted: Wanted[], folder: string): void {
  const copied = new Map<string, string>();
  for (const { name, from, user } of wanted) {
    const source = folderOf(name, from);
    const beside = join(folder, 'node_modules', name);
    if (!source || copied.get(beside) === source) continue;
    const place = copied.has(beside) ? join(user, 'node_modules', name) : beside;
    copied.set(place, source);
    const isOwn = (path: string) => !path.slice(source.length).includes('/node_modules');
    cpSync(source, place, { recursive: true, dereference: true, filter: isOwn });
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
      readFileSync(join(source, 'package.json'), 'utf8'),
    ) as Record<string, Record<string, string>>;
    // the list grows while it is gone through: what the servers load themselves comes first
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies }))
      wanted.push({ name: each, from: source, user: place });
  }
}

export async function buildServer(name: string, folder: string): Promise<void> {
  const server = servers[name];
  if (!server) throw new Error(`no server "${name}": ${Object.keys(servers).join(', ')}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (name === 'console') await (await import('../../../releases/console/server/startConsole.ts')).buildPage();
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: server.entries,
    outdir: join(folder, 'js/server'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    metafile: true,
    logLevel: 'warning',
    plugins: [ownPackages],
  });
  const folders = new Map(Object.entries(server.packages ?? {}).map(([each, from]) => [each, join(root, from)]));
  // what tree shaking has left: the inputs name more
  const loaded = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  for (const [input, { imports }] of Object.entries(metafile.inputs))
    for (const { path, external } of imports)
      if (external && loaded.includes(path) && !isBuiltin(path))
        folders.set(packageName(path), dirname(join(root, input)));
  const loadedPackages = [...folders].filter(([each]) => !LEFT_OUT.includes(each));
  copyPackages(
    loadedPackages.map(([each, from]) => ({ name: each, from, user: folder })),
    folder,
  );
  for (const [place, source] of Object.entries(server.files))
    cpSync(join(root, source), join(folder, place), { recursive: true });
}

const [, file, name, folder] = process.argv;
if (file === fileURLToPath(import.meta.url)) {
  if (!name || !folder)
    throw new Error('node host/server/run.mjs docs/deploying/images/build.ts <front|backend|console> <folder>');
  await buildServer(name, resolve(folder));
}
