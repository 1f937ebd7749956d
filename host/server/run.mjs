// `node host/server/run.mjs <program.ts> [arguments]`: runs a TypeScript program of this repository. It runs as a bundle in
// node_modules/.cache, which is built again after a change of its sources. Plain JavaScript, because Node 20 reads no TypeScript.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fail, root } from './install.mjs';

const cache = join(root, 'node_modules/.cache/programs');
/** A running process may load parts of an older bundle. */
const OLD_BUNDLE_MS = 24 * 3_600_000;

const stampOf = (path) => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && { time: stats.mtimeMs, size: stats.size };
};

/** Every package.json above the files: it decides which file an import of a package means. */
function manifestsAbove(files) {
  const folders = new Set();
  for (const file of files)
    for (let folder = dirname(file); folder.startsWith(root) && !folders.has(folder); folder = dirname(folder))
      folders.add(folder);
  return [...folders].map((folder) => join(folder, 'package.json')).filter((file) => existsSync(file));
}

/** Packages stay outside of the bundle. They are loaded by their path, because the bundle lies elsewhere than the code. */
const packagesByPath = {
  name: 'packages by path',
  setup({ onResolve, resolve: find }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (pluginData === packagesByPath || kind === 'entry-point') return undefined;
      if (path.startsWith('node:')) return { path, external: true };
      const found = await find(path, { kind, importer, resolveDir, pluginData: packagesByPath });
      // one that is missing may be optional
      if (found.errors.length > 0 || found.external) return { path, external: true };
      if (!found.path.includes(`${sep}node_modules${sep}`)) return found;
      return { path: pathToFileURL(found.path).href, external: true };
    });
  },
};

/** `import.meta` of a bundled module is that of its source. */
const ownPlace = {
  name: 'own place',
  setup({ onLoad }) {
    onLoad({ filter: /\.(?:ts|tsx|mjs)$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const place = { URL: pathToFileURL(path).href, DIRNAME: dirname(path), FILENAME: path };
      const constants = Object.entries(place).map(([name, value]) => `META_${name} = ${JSON.stringify(value)}`);
      // in the first line, in place of `#!`, so that the lines of the source map stay
      const placed = `const ${constants.join(', ')};${source.replace(/^#!.*/, '')}`;
      return { contents: source.includes('import.meta') ? placed : source, loader: path.endsWith('x') ? 'tsx' : 'ts' };
    });
  },
};

async function bundle(program, outdir) {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: program },
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    charset: 'utf8',
    // without esbuild's `module`, which names files for bundlers only
    conditions: [],
    define: {
      'import.meta.url': 'META_URL',
      'import.meta.dirname': 'META_DIRNAME',
      'import.meta.filename': 'META_FILENAME',
    },
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'error',
    plugins: [packagesByPath, ownPlace],
  }).catch((error) => {
    // esbuild has printed what it found in the sources
    if (!error.errors) console.error(error.message);
    return process.exit(1);
  });
  return Object.keys(metafile.inputs).map((path) => join(root, path));
}

/** Makes a folder in the cache; in the system's temporary folder if the cache cannot be written. */
function makeFolder(name) {
  try {
    mkdirSync(cache, { recursive: true });
    return mkdtempSync(`${name}-`);
  } catch {
    return mkdtempSync(join(tmpdir(), 'liaozhai-program-'));
  }
}

/** Builds a bundle and records it in the cache. One that cannot be recorded is removed at the end of this process. */
async function buildBundle(program, record) {
  const name = record.slice(0, -'.json'.length);
  const folder = makeFolder(name);
  let isRecorded = false;
  process.once('exit', () => {
    if (!isRecorded) rmSync(folder, { recursive: true, force: true });
  });
  const startedAt = Date.now();
  const sources = await bundle(program, folder);
  if (folder.startsWith(cache)) {
    const inputs = [...sources, ...manifestsAbove(sources), join(root, 'pnpm-lock.yaml'), import.meta.filename];
    const stamps = inputs.map((path) => [path, stampOf(path)]);
    // a source that was saved meanwhile may be in the bundle as it was
    isRecorded = stamps.every(([, stamp]) => stamp && stamp.time < startedAt);
    if (isRecorded) {
      writeFileSync(join(folder, 'record.json'), JSON.stringify({ folder, stamps }));
      renameSync(join(folder, 'record.json'), record);
    }
    for (const each of readdirSync(cache).map((entry) => join(cache, entry)))
      if (each.startsWith(`${name}-`) && Date.now() - statSync(each).mtimeMs > OLD_BUNDLE_MS)
        rmSync(each, { recursive: true, force: true });
  }
  return join(folder, 'main.mjs');
}

/** Returns the main file of the cached bundle if no source has changed since, else null. */
function upToDate(record) {
  try {
    const { folder, stamps } = JSON.parse(readFileSync(record, 'utf8'));
    const main = join(folder, 'main.mjs');
    const isSame = ([path, { time, size }]) => {
      const now = stampOf(path);
      return now?.time === time && now.size === size;
    };
    return existsSync(main) && stamps.every(isSame) ? main : null;
  } catch {
    // it is missing, or was damaged by a full disk
    return null;
  }
}

const [node, , path = '', ...options] = process.argv;
const program = resolve(path);
if (!path || !existsSync(program)) fail(`no program "${path}": node host/server/run.mjs <program.ts> [arguments]`);
// a copy of the repository has a copy of the cache, which must not lead back
const place = createHash('sha256').update(program).digest('hex').slice(0, 8);
const record = join(cache, `${relative(root, program).replace(/[^\w]+/g, '-')}-${place}.json`);
const main = upToDate(record) ?? (await buildBundle(program, record));
process.argv = [node, program, ...options];
process.setSourceMapsEnabled(true);
await import(pathToFileURL(main).href);
