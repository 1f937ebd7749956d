import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, parse, posix, relative } from 'node:path';
import { promisify } from 'node:util';

/** Folder of a build for the types of its exposed modules, as in Module Federation's `dts`, whose zip is not reproducible. */
const TYPES_FOLDER = '@mf-types';
const DECLARATIONS = 'compiled-types';

const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*(['"])([^'"]+)\1/g;
const DEFAULT_EXPORT = /\bexport\s+default\b|\bexport\s*\{[^}]*\bdefault\b[^}]*\}/;

type TextByPath = Record<string, string>;

function findUp(folder: string, name: string): string | undefined {
  const file = join(folder, name);
  if (existsSync(file)) return file;
  return dirname(folder) === folder ? undefined : findUp(dirname(folder), name);
}

function findCompiler(root: string): string {
  const { resolve } = createRequire(join(root, 'package.json'));
  try {
    const manifest = resolve('typescript/package.json');
    const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { tsc: string } };
    return join(dirname(manifest), bin.tsc);
  } catch (cause) {
    throw new Error(`types of exposed modules need typescript in ${root}: add it to devDependencies`, { cause });
  }
}

function findSource(root: string, path: string): string {
  const source = ['', '.ts', '.tsx', '.js', '.jsx', '/index.ts', '/index.tsx']
    .map((ending) => posix.join(path, '.') + ending)
    .find((file) => /\.[jt]sx?$/.test(file) && existsSync(join(root, file)));
  if (!source) throw new Error(`${path} is exposed, but is no source file of ${root}: correct the path`);
  return source;
}

const ambientFiles = (root: string) => {
  const folder = join(root, 'src');
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  return names.filter((name) => name.endsWith('.d.ts')).map((name) => join(folder, name));
};

/** Runs `work` with a temporary folder of TypeScript's declarations for `sources`. */
async function withDeclarations<Result>(
  root: string,
  config: string,
  sources: string[],
  work: (folder: string, log: string) => Result,
): Promise<Result> {
  // inside the remote's folder, so that TypeScript finds the installed types
  const cacheFolder = join(root, 'node_modules/.liaozhai');
  mkdirSync(cacheFolder, { recursive: true });
  const outFolder = mkdtempSync(join(cacheFolder, 'types-'));
  try {
    const compilerOptions = {
      ...{ declaration: true, emitDeclarationOnly: true, noEmit: false, noEmitOnError: false, declarationMap: false },
      ...{ composite: false, incremental: false, removeComments: false, allowJs: true, outDir: outFolder },
      // linked libraries with types in their sources are located outside the remote
      rootDir: parse(root).root,
    };
    const files = [...sources.map((file) => join(root, file)), ...ambientFiles(root)];
    const project = join(outFolder, 'tsconfig.json');
    writeFileSync(project, JSON.stringify({ extends: config, compilerOptions, include: [], files }));
    // the type check reports errors; here only the declarations matter
    const log = await promisify(execFile)(process.execPath, [findCompiler(root), '-p', project], { cwd: root }).then(
      ({ stdout }) => stdout,
      ({ stdout = '', stderr = '' }: { stdout?: string; stderr?: string }) => stdout + stderr,
    );
    return work(join(outFolder, relative(parse(root).root, root)), log);
  } finally {
    rmSync(outFolder, { recursive: true, force: true });
  }
}

/** Declarations reachable from `sources` by relative paths; other packages stay imports. */
function collectDeclarations(root: string, folder: string, sources: string[]): TextByPath {
  const texts: TextByPath = {};
  const findFile = (path: string) =>
    [folder, root].map((place) => join(place, path)).find((file) => !path.startsWith('..') && existsSync(file));
  const queue = sources.map((file) => file.replace(/\.[jt]sx?$/, '.d.ts'));
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const file = findFile(path);
    if (!file || path in texts) continue;
    const text = readFileSync(file, 'utf8');
    texts[path] = text;
    for (const [, , name = ''] of text.matchAll(SPECIFIER)) {
      if (!name.startsWith('.')) continue;
      const base = posix.join(posix.dirname(path), name);
      const stem = base.replace(/(\.d)?\.[jt]sx?$/, '');
      const dependency = [`${stem}.d.ts`, `${base}.d.ts`, `${base}/index.d.ts`].find(findFile);
      if (dependency) queue.push(dependency);
      else if (base.startsWith('..'))
        console.warn(`${path} names types of ${name}, outside of ${root}: other teams get \`any\` for them`);
    }
  }
  return texts;
}

/**
 * Returns the types of a remote's exposed modules by path in the build: `@mf-types/Badge.d.ts` and its dependencies. Empty without
 * a `tsconfig.json`. Throws if TypeScript is missing or writes no declaration for a module.
 */
export async function exposedTypes(root: string, exposes: Record<string, string>): Promise<TextByPath> {
  const config = findUp(root, 'tsconfig.json');
  if (!config || Object.keys(exposes).length === 0) return {};
  const modules = Object.entries(exposes).map(([name, path]) => ({ name, source: findSource(root, path) }));
  const sources = modules.map(({ source }) => source);
  return withDeclarations(root, config, sources, (folder, log) => {
    const texts = collectDeclarations(root, folder, sources);
    const entries = modules.map(({ name, source }) => {
      const path = source.replace(/\.[jt]sx?$/, '');
      const text = texts[`${path}.d.ts`];
      if (text === undefined) throw new Error(`TypeScript writes no types of ${source}, which is exposed:\n${log}`);
      const from = `'${posix.relative(posix.dirname(name), `./${DECLARATIONS}/${path}.js`).replace(/^(?!\.)/, './')}'`;
      const namedExports = `export * from ${from};\n`;
      const entryText = DEFAULT_EXPORT.test(text) ? `${namedExports}export { default } from ${from};\n` : namedExports;
      return [posix.join(TYPES_FOLDER, `${name === '.' ? 'index' : name}.d.ts`), entryText];
    });
    const declarations = Object.entries(texts).map(([path, text]) => [`${TYPES_FOLDER}/${DECLARATIONS}/${path}`, text]);
    return Object.fromEntries([...entries, ...declarations].sort(([a = ''], [b = '']) => (a < b ? -1 : 1)));
  });
}
