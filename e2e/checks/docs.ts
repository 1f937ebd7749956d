// Docs stay true: a script, path or package that they name has to exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { report } from './report.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const skipped = new Set(['node_modules', 'dist', '.data', '.git', 'test-results', '.cache']);

function* documents(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (skipped.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* documents(path);
    else if (entry.name.endsWith('.md')) yield path;
  }
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const pnpmBuiltins = new Set(['install', 'exec', 'add', 'dlx', 'run', 'store', 'config']);
const rooms = ['backend', 'host', 'remotes', 'shared', 'releases', 'e2e', 'docs', 'templates'];
const problems: string[] = [];

function checkScripts(text: string, shown: string) {
  // in a sentence or on a line of its own, behind settings too
  for (const [, script] of text.matchAll(/(?:`|^)(?:[A-Z_]+=\S+ )*(?:pnpm|npm run) ([a-z][a-z0-9:-]*)/gm)) {
    if (script && !pnpmBuiltins.has(script) && !(script in manifest.scripts))
      problems.push(`${shown} names the script "${script}", which package.json does not have: correct one of them`);
  }
}

function checkPaths(text: string, shown: string, folder: string) {
  const named = [...text.matchAll(/`([^`\s]+)`/g)].map((match) => match[1] ?? '');
  for (const path of named) {
    const plain = path.replace(/[:#].*$/, '').replace(/\/$/, '');
    const looksLikePath =
      rooms.some((room) => plain.startsWith(`${room}/`)) && !/[<>*{}…|]|NNN|\/dist(\/|$)/.test(plain);
    if (looksLikePath && !existsSync(join(root, plain)) && !existsSync(join(folder, plain)))
      problems.push(`${shown} names ${plain}, which does not exist: correct the path`);
  }
  for (const [, target] of text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)) {
    if (target && !existsSync(join(folder, target)))
      problems.push(`${shown} links to ${target}, which does not exist: correct the link`);
  }
}

function checkPackages(text: string, shown: string) {
  for (const [, name] of text.matchAll(/`(@liaozhai\/[a-z-]+)/g)) {
    const own = name?.slice(10) ?? '';
    const folder = [own, `remotes/${own}`, `templates/packages/${own}`].find((path) =>
      existsSync(join(root, path, 'package.json')),
    );
    if (!folder) problems.push(`${shown} names the package ${name}, which does not exist: correct the name`);
  }
}

for (const document of documents(root)) {
  const text = readFileSync(document, 'utf8');
  const shown = document.slice(root.length + 1);
  checkScripts(text, shown);
  checkPaths(text, shown, dirname(document));
  checkPackages(text, shown);
}

report('docs', problems);
