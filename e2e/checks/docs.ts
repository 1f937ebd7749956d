// Checks documents and comments: what they name must exist, and they must use standard terms.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { report } from './report.ts';
import { gapsOfWalks } from './walks.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const skipped = new Set(['node_modules', 'dist', '.data', '.git', 'test-results', '.cache']);

function* files(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (skipped.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else yield path;
  }
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const pnpmBuiltins = new Set(['install', 'exec', 'add', 'dlx', 'run', 'store', 'config']);
const rooms = ['backend', 'host', 'remotes', 'shared', 'releases', 'e2e', 'docs', 'templates'];
const problems: string[] = [];

function checkScripts(text: string, shown: string) {
  // in a sentence or on a separate line, also after environment variables
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
  for (const [, label = '', target] of text.matchAll(/\[([^\]]*)\]\((?!https?:|#|mailto:)([^)#\s]+)/g)) {
    if (!target) continue;
    if (!existsSync(join(folder, target)))
      problems.push(`${shown} links to ${target}, which does not exist: correct the link`);
    const number = /\b\d{3}\b/.exec(label)?.[0];
    if (target.includes('decisions/') && number && !target.includes(`/${number}-`))
      problems.push(`${shown} links as ${label} to ${target}: correct one of them`);
  }
}

/** Placeholders of a naming rule. */
const patterns = new Set(['PascalCase.tsx', 'camelCase.ts']);

/** Paths relative to the package of a README, and file names without a folder. */
function checkRelativePaths(text: string, shown: string, folder: string) {
  const isOfPackage = existsSync(join(folder, 'package.json'));
  for (const [, path = ''] of text.matchAll(/`([\w./-]+\.(?:tsx?|mjs|css))`/g)) {
    const isKnown = path.includes('/')
      ? !isOfPackage || existsSync(join(folder, path)) || existsSync(join(root, path))
      : fileNames.has(path) || patterns.has(path);
    if (!isKnown) problems.push(`${shown} names ${path}, which does not exist: correct the path`);
  }
}

/** Maximum number of words of a document, so that it stays short enough to read. */
const WORD_LIMITS: [documents: RegExp, words: number][] = [
  [/^docs\/decisions\//, 250],
  [/^docs\/(deploying\/.*|benchmarks|testing)\.md$/, 1_500],
];

function checkLength(text: string, shown: string) {
  const words = text.split(/\s+/).filter(Boolean).length;
  for (const [documents, most] of WORD_LIMITS)
    if (documents.test(shown) && words > most) problems.push(`${shown} has ${words} words: cut it to ${most}`);
}

const MONTHS = 'January|February|March|April|May|June|July|August|September|October|November|December';

/** Dates belong in decisions and above tables; in prose they soon become outdated. */
function checkDates(line: string, shown: string) {
  const isDated = new RegExp(`\\b\\d{1,2} (${MONTHS})\\b`).test(line);
  if (isDated && !line.startsWith('|')) problems.push(`${shown} has a day in its prose: leave it out`);
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

const paths = [...files(root)];
const sources = paths
  .filter((path) => /\.(tsx?|mjs|css|json)$/.test(path) && !path.endsWith('openapi.json'))
  .map((path) => ({ path: path.slice(root.length + 1), text: readFileSync(path, 'utf8') }));
const fileNames = new Set(paths.map((path) => basename(path)));
const identifiers = new Set(sources.flatMap(({ text }) => text.match(/[A-Za-z_$][\w$]*/g) ?? []));

/** Names from APIs of other projects, for comparison. */
const foreign = new Set(['broadcastQueue', 'useRoutes', 'setWeight']);
/** Decisions also name rejected options. */
const isHistory = (shown: string) => /^docs\/decisions\/|CHANGELOG/.test(shown);

function checkIdentifiers(text: string, shown: string) {
  for (const [, name] of text.matchAll(/`([a-z]+[A-Z]\w*)(?:\(\))?`/g)) {
    if (name && !identifiers.has(name) && !foreign.has(name))
      problems.push(`${shown} names \`${name}\`, which no source has: correct the name`);
  }
}

function checkDecisions(text: string, shown: string) {
  const decisions = readdirSync(join(root, 'docs/decisions'));
  for (const [, number] of text.matchAll(/[Dd]ecisions? (\d{3})\b/g)) {
    if (!decisions.some((name) => name.startsWith(`${number}-`)))
      problems.push(`${shown} names decision ${number}, which does not exist: correct the number`);
  }
}

const MAX_SENTENCE_WORDS = 25;
/** Private terms, for which CONTRIBUTING.md requires standard ones. */
const privateWords =
  /\b(whoever|whatever|anew|lest|is none|are none|of its own accord|by itself|at once|tells of|told|heard|asked for|is taken|beside|fate|sky|quiet hour)\b/i;

function checkWords(line: string, shown: string) {
  const word = privateWords.exec(line)?.[0];
  if (word) problems.push(`${shown} says "${word}": use the standard term, as CONTRIBUTING.md lists it`);
}

/** Terms of the list above that no sentence of a program needs in another meaning. */
const privateInSentences =
  /\b(whoever|whatever|anew|lest|is none|are none|of its own accord|by itself|at once|tells of|told|heard|asked for|beside)\b/i;

/** Checks the sentences of four words and more that a program prints, and titles of tests. */
function checkPrinted(text: string, shown: string) {
  for (const [, , printed = ''] of text.matchAll(/(['"`])((?:(?!\1|\n).)+)\1/g)) {
    const sentence = printed.replace(/\$\{[^}]*\}/g, 'x');
    const word = privateInSentences.exec(sentence)?.[0];
    if (word && sentence.split(' ').length > 3)
      problems.push(`${shown} prints "${word}" in "${sentence.slice(0, 60)}": use the standard term`);
  }
}

function checkSentences(text: string, shown: string, longest: number) {
  const prose = text
    .replace(/^```.*?^```/gms, '')
    .replace(/^\|.*$/gm, '')
    .replace(/`[^`]*`/g, 'x')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  for (const sentence of prose.split(/(?<=[.!?:;])\s| · |\n\s*\n|\n(?=\s*[-#>|\d])|(?<=^#.*)\n/m)) {
    const words = sentence.trim().split(/\s+/);
    if (words.length > longest)
      problems.push(
        `${shown} has a sentence of ${words.length} words, "${words.slice(0, 6).join(' ')} …": cut it in two`,
      );
  }
}

/** Yields comments of several lines as one text, with the number of the first line. */
function* commentsOf(text: string): Generator<{ comment: string; line: number }> {
  let lines: string[] = [];
  for (const [index, row] of `${text}\n`.split('\n').entries()) {
    const [, code = '', words] = /^([^'"`]*?)(?:\/\*+|\/\/|(?<=^ *)\*)(.*)$/.exec(row) ?? [];
    if (lines.length > 0 && (words === undefined || code.trim())) {
      yield { comment: lines.join('\n'), line: index + 1 - lines.length };
      lines = [];
    }
    if (words !== undefined) lines.push(words.replace(/\*\/.*$/, '').trim());
  }
}

/** Promises that tests in a file or a folder hold: their titles, or those of their groups, start with them. */
function promisesIn(place: string): string[] {
  const texts = sources.filter(({ path }) => path === place || path.startsWith(`${place}/`));
  const titles = /\b(?:test|describe)(?:\.\w+)*\(\s*(['"`])(.*?)\1/gs;
  return texts
    .flatMap(({ text }) => [...text.matchAll(titles)].map(([, , title = '']) => title))
    .flatMap((title) => title.split(': ', 1).flatMap((start) => start.split(', ')));
}

/** In the table of promises, each has a test in the named files, and each file holds one of its row. */
function checkPromises(text: string, shown: string) {
  const table = text.split('\n## Promises\n')[1]?.split('\n## ')[0] ?? '';
  for (const [, promises = '', named = ''] of table.matchAll(/^\| ([a-z][^|]*) \|[^|]*\| (`.*`) \|$/gm)) {
    const row = promises.split(', ').map((promise) => promise.replace(/\*$/, ''));
    const files = [...named.matchAll(/`([^`]+)`/g)].map(([, path = '']) => ({ path, held: promisesIn(path) }));
    const holds = (held: string[], promise: string) =>
      held.some((name) => (promise.endsWith('.') ? name.startsWith(promise) : name === promise));
    for (const promise of row.filter((each) => !files.some(({ held }) => holds(held, each))))
      problems.push(`${shown} promises ${promise}, with which no test of ${named} starts: name one so`);
    for (const { path } of files.filter(({ held }) => !row.some((promise) => holds(held, promise))))
      problems.push(`${shown} names ${path}, where no test starts with ${promises}: correct one of them`);
  }
}

const isWritten = (shown: string) => !shown.includes('/content/');

for (const document of paths.filter((path) => path.endsWith('.md'))) {
  const text = readFileSync(document, 'utf8');
  const shown = document.slice(root.length + 1);
  checkScripts(text, shown);
  checkPaths(text, shown, dirname(document));
  checkPackages(text, shown);
  if (!isWritten(shown)) continue;
  if (!isHistory(shown)) {
    checkIdentifiers(text, shown);
    checkRelativePaths(text, shown, dirname(document));
    for (const line of text.split('\n')) checkDates(line, shown);
  }
  if (shown === 'docs/testing.md') checkPromises(text, shown);
  if (shown === 'docs/architecture.md')
    for (const gap of gapsOfWalks(
      text,
      sources.map(({ path }) => path),
    ))
      problems.push(`${shown} ${gap}`);
  checkLength(text, shown);
  checkDecisions(text, shown);
  checkSentences(text, shown, MAX_SENTENCE_WORDS);
  for (const line of text.split('\n')) checkWords(line, shown);
}
for (const { path, text } of sources.filter(({ path }) => /\.(tsx?|mjs)$/.test(path))) {
  checkPrinted(text, path);
  for (const { comment, line } of commentsOf(text)) {
    const shown = `${path}:${line}`;
    checkWords(comment, shown);
    checkSentences(comment, shown, MAX_SENTENCE_WORDS);
    for (const [named] of comment.matchAll(/\bdocs\/[\w/-]+\.md\b/g))
      if (!existsSync(join(root, named)))
        problems.push(`${shown} names ${named}, which does not exist: correct the path`);
  }
}

report('docs', problems);
