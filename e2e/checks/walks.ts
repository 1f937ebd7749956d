// Follows the imports between the files of a walk in docs/architecture.md.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Files that a walk reaches without an import, and by what. */
const reachedOtherwise = new Map([
  ['shared/src/runtime/client/earlyRequest.ts', 'the global variable of host/src/loader.ts'],
  ['host/server/proxy/proxy.ts', 'HTTP'],
  ['backend/src/http/app.ts', 'HTTP'],
  ['host/src/App.tsx', 'HTTP'],
]);

interface Link {
  target: string;
  /** What is imported; null stands for everything. */
  names: string[] | null;
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Path of an imported file from the root; undefined for a package from outside. */
function resolveImport(from: string, path: string): string | undefined {
  const [, name, inside] = /^@liaozhai\/([a-z-]+)(\/.*)?$/.exec(path) ?? [];
  if (name) {
    const folder = [name, `remotes/${name}`, `shared/${name}`].find((each) =>
      existsSync(join(root, each, 'package.json')),
    );
    const { exports } = JSON.parse(read(`${folder}/package.json`)) as { exports?: Record<string, string> };
    const target = exports?.[`.${inside ?? ''}`];
    return target && join(folder ?? '', target);
  }
  if (!path.startsWith('.')) return undefined;
  const file = relative(root, join(root, dirname(from), path));
  return ['', '.ts', '.tsx', '/index.ts']
    .map((end) => file + end)
    .find((each) => /\.tsx?$/.test(each) && existsSync(join(root, each)));
}

const statement =
  /\b(?:import|export)\s(?:[^'";]*?\{([^}]*)\}|[^'";{]*?)\s*from\s*'([^']+)'|\bimport\(([^')]*)'([^']+)'/g;

/** Imports of a file; `onlyPassedOn` leaves those that it exports again. */
function linksOf(file: string, onlyPassedOn = false): Link[] {
  return [...read(file).matchAll(statement)].flatMap(([text, braces, from, , late]) => {
    const target = resolveImport(file, from ?? late ?? '');
    if (!target || (onlyPassedOn && !text.startsWith('export'))) return [];
    const names = braces
      ?.split(',')
      .map((each) => each.replace(/^\s*type\s/, '').trim())
      .map((each) => each.split(' as ').at(onlyPassedOn ? -1 : 0) ?? '');
    return [{ target, names: names?.filter(Boolean) ?? null }];
  });
}

/** The named file, and those behind it that export `name` through it. */
const originsOf = (file: string, name: string): string[] => [
  file,
  ...linksOf(file, true)
    .filter(({ target, names }) => (names ? names.includes(name) : new RegExp(`\\b${name}\\b`).test(read(target))))
    .flatMap(({ target }) => originsOf(target, name)),
];

const isSource = (file: string) => /\.tsx?$/.test(file);

const importedBy = (file: string): Set<string> =>
  new Set(linksOf(file).flatMap(({ target, names }) => names?.flatMap((name) => originsOf(target, name)) ?? [target]));

/**
 * Each file of a walk imports an earlier one or is imported by one, unless no source imports it, as an entry. Otherwise the walk
 * lacks the file between them. Returns one sentence per gap.
 */
export function gapsOfWalks(text: string, sources: string[]): string[] {
  const section = text.split('\n## Four walks through the house\n')[1]?.split('\n## ')[0] ?? '';
  const all = sources.filter((file) => isSource(file) && !/\.(test|spec)\.|\/(testing|test)\/|^e2e\//.test(file));
  const everImported = new Set(all.flatMap((file) => linksOf(file).map(({ target }) => target)));
  return section.split(/\n(?=\*\*)/).flatMap((walk) => {
    const named = [...walk.matchAll(/`([\w/-]+\/[\w.-]+\.(?:tsx?|html))`/g)].map(([, file = '']) => file);
    const files = [...new Set(named)].filter((file) => existsSync(join(root, file)));
    const links = new Map(files.map((file) => [file, isSource(file) ? importedBy(file) : new Set<string>()]));
    return files
      .slice(1)
      .filter((file) => everImported.has(file) && !reachedOtherwise.has(file))
      .filter((file) => {
        const earlier = files.slice(0, files.indexOf(file));
        return !earlier.some((each) => links.get(each)?.has(file) || links.get(file)?.has(each));
      })
      .map(
        (file) =>
          `names ${file} in a walk, which no earlier file of it imports: name the file between them, or correct the order`,
      );
  });
}
