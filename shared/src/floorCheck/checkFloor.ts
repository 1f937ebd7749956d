#!/usr/bin/env node
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Node } from 'acorn';
import * as v from 'valibot';
import { floor } from '../build/floor.ts';
import { CompatData, type Floor } from './compatData.ts';
import { collectDefinedNames, findScriptUses, parseScript, type Use } from './scripts.ts';
import { findStyleUses } from './styles.ts';

export type { Floor } from './compatData.ts';

/** An exception to the floor, with the reason why the page works without the feature. */
export interface Allowed {
  features: readonly string[];
  /** files to which it applies; default: all */
  where?: RegExp;
  /** pattern required within 60 characters on either side, for features that other code may use unguarded */
  near?: RegExp;
  why: string;
}

/** Files that contain React DOM: the host's entry and the console's. */
const hostEntry = /^static\/js\/(host|index)\./;

/** Exceptions for the kit, React and the other libraries. */
export const allowed: readonly Allowed[] = [
  {
    features: ['text-wrap', 'text-spacing-trim', 'text-autospace', 'hanging-punctuation'],
    why: 'finer typography: without it lines break and stand as in any browser of that age',
  },
  {
    features: ['@starting-style'],
    why: 'where an entrance begins: without it the element appears immediately',
  },
  {
    features: ['content-visibility', 'contain-intrinsic-height'],
    why: 'leaves out what is off-screen: without it the same is drawn, with more work',
  },
  {
    features: ['<img fetchpriority>', '<link fetchpriority>'],
    why: 'a hint to the network: without it the browser chooses the order itself',
  },
  {
    features: ['overflow-anchor'],
    why: 'switches scroll anchoring off: browsers without the property have none',
  },
  {
    features: ['field-sizing'],
    why: 'TextArea and Composer ask CSS.supports for it and find the height another way where it is missing',
  },
  {
    features: ['::highlight', 'Highlight'],
    where: /story\.chat\.search\./,
    why: '查找 asks for CSS.highlights first: without it the message is marked, and the words in it are not',
  },
  {
    features: ['.addRoutes()'],
    near: /\.addRoutes\?\./,
    why: 'the service worker asks for it first: without it what is posted passes the worker, as it always did',
  },
  {
    features: ['forced-color-adjust'],
    why: 'forced colours show what is chosen: a browser without the property has no such mode',
  },
  {
    features: ['scrollbar-width'],
    why: 'hides a scrollbar that phones do not show anyway',
  },
  {
    features: ['event scrollend'],
    near: /"scroll",/,
    why: 'the virtual list also takes 150 ms without a scroll for its end',
  },
  {
    features: ['trustedTypes', '.createPolicy()'],
    near: /\?\.createPolicy\(|trustedTypes\)\?|=(\w)\?\1\.createPolicy\(/,
    why: 'tested for first; where there are no Trusted Types the policy that demands them is ignored as well',
  },
  {
    features: ['requestIdleCallback', 'cancelIdleCallback'],
    where: hostEntry,
    why: 'useIdle asks for it and takes a timer where it is missing, as in every Safari',
  },
  {
    features: ['ClipboardItem'],
    near: /navigator\.clipboard\.write\(\[/,
    why: 'tried and caught: where it is missing the text is copied the older ways',
  },
  {
    features: ['navigation', 'event navigate', 'event navigatesuccess', 'event navigateerror'],
    where: hostEntry,
    why: "React's default indicator of transitions, behind typeof",
  },
  {
    features: ['.startViewTransition()', '.skipTransition()', 'style.viewTransitionName', 'style.viewTransitionClass'],
    where: hostEntry,
    why: "React's view transitions: tried and caught, and we use none",
  },
  {
    features: ['PerformanceEventTiming', 'PerformanceSoftNavigation', '.getLargestInteractionContentfulPaint()'],
    where: /^static\/js\/vitals\./,
    why: 'web-vitals asks for each first: where one is missing its figure is not measured',
  },
  {
    features: ['navigator.connection'],
    near: /navigator\.connection&&/,
    why: 'React asks for it first',
  },
  {
    features: ['<select is>'],
    near: /createElement\("select"/,
    why: "React's way to make customised elements, of which we have none",
  },
  {
    features: ['Error.captureStackTrace()'],
    near: /Error\.captureStackTrace\?/,
    why: 'axios asks for it first',
  },
  {
    features: ['.requestPointerLock()', 'document.exitPointerLock()'],
    near: /pointerLock/i,
    why: '@use-gesture calls it for its option pointerLock, which nothing sets',
  },
];

/** A use of a feature that a browser of the floor lacks. */
export interface BeyondFloor extends Use {
  file: string;
  kind: Piece['kind'];
  /** number of uses in the file; `at` refers to the first */
  times: number;
  /** surrounding text, since built files have few lines */
  excerpt: string;
}

/** Code in one language, from a separate file or from inside a page. */
interface Piece {
  file: string;
  kind: 'script' | 'style' | 'markup';
  text: string;
}

/** Inline scripts, inline styles and markup of a page. */
function splitPage(file: string, html: string): Piece[] {
  const inline = [...html.matchAll(/<(script|style)\b([^>]*)>([\s\S]*?)<\/\1>/gi)]
    .filter(([, , attributes = '']) => !/\btype\s*=\s*["']?application\//i.test(attributes))
    .map(
      ([, name, , text = '']): Piece => ({ file, kind: name?.toLowerCase() === 'style' ? 'style' : 'script', text }),
    );
  const tags = html.replace(/(<(script|style)\b[^>]*>)[\s\S]*?<\/\2>|<!--[\s\S]*?-->/gi, '$1');
  return [...inline, { file, kind: 'markup', text: tags }];
}

/** HTML inside JSON, e.g. prerendered contents. */
const extractHtml = (json: string): string[] =>
  [JSON.parse(json) as unknown]
    .flatMap((value) => (value && typeof value === 'object' ? Object.values(value) : []))
    .filter((value): value is string => typeof value === 'string' && value.startsWith('<'));

function splitFile(file: string, text: string): Piece[] {
  if (file.endsWith('.js')) return [{ file, kind: 'script', text }];
  if (file.endsWith('.css')) return [{ file, kind: 'style', text }];
  return (file.endsWith('.html') ? [text] : extractHtml(text)).flatMap((html) => splitPage(file, html));
}

function findMarkupUses(text: string, data: CompatData): Use[] {
  const tags = text.matchAll(/<([a-z][\w-]*)((?:\s+[^\s=>/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+))?)*)\s*\/?>/gi);
  return [...tags].flatMap(({ 1: name, 2: attributes = '', index }) =>
    [...attributes.matchAll(/\s([^\s=>/]+)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+))?/g)].flatMap(([, attribute = '']) => {
      const lacking = data.browsersWithout(data.attributes.get(attribute.toLowerCase()));
      const feature = `<${name} ${attribute.toLowerCase()}>`;
      return lacking.length > 0 ? [{ feature, lacking: lacking.join(', '), at: index }] : [];
    }),
  );
}

function findUses(pieces: readonly Piece[], data: CompatData): BeyondFloor[] {
  const parsed = new Map<Piece, Node | Use>();
  for (const piece of pieces) if (piece.kind === 'script') parsed.set(piece, parseScript(piece.text));
  // a remote's helpers may be defined in one file and called in another
  const definedNames = new Set(
    [...parsed.values()].flatMap((script) => ('feature' in script ? [] : [...collectDefinedNames(script)])),
  );
  const findPieceUses = (piece: Piece): Use[] => {
    const script = parsed.get(piece);
    if (script) return 'feature' in script ? [script] : findScriptUses(script, definedNames, data);
    return piece.kind === 'style' ? findStyleUses(piece.text, data) : findMarkupUses(piece.text, data);
  };
  return pieces.flatMap((piece) =>
    findPieceUses(piece).map((use) => {
      const excerpt = piece.text.slice(Math.max(0, use.at - 60), use.at + 60).replace(/\s+/g, ' ');
      return { ...use, file: piece.file, kind: piece.kind, times: 1, excerpt };
    }),
  );
}

function oncePerFile(uses: readonly BeyondFloor[]): BeyondFloor[] {
  const firstUses = new Map<string, BeyondFloor>();
  for (const use of uses) {
    const key = `${use.file} ${use.feature}`;
    const first = firstUses.get(key);
    firstUses.set(key, first ? { ...first, times: first.times + 1 } : use);
  }
  return [...firstUses.values()];
}

/**
 * Checks all built scripts, stylesheets and pages below a folder, libraries included, for features that the floor lacks: syntax,
 * globals, methods, events, HTML attributes, CSS. Static analysis only: it does not see computed names or call options, nor
 * whether a guard works. Returns the findings and the exceptions that were needed.
 */
export async function checkFloor(
  folder: string,
  { floor, allowed: exceptions = allowed }: { floor: Floor; allowed?: readonly Allowed[] },
) {
  const names = (await readdir(folder, { recursive: true }))
    .filter((name) => /\.(js|css|html|json)$/.test(name))
    .sort();
  const files = await Promise.all(
    names.map(async (name) => splitFile(name.replaceAll(sep, '/'), await readFile(join(folder, name), 'utf8'))),
  );
  const used = new Set<Allowed>();
  const uses = findUses(files.flat(), new CompatData(floor)).filter(({ feature, file, excerpt }) => {
    const matchingExceptions = exceptions.filter(
      ({ features, where, near }) =>
        features.includes(feature) && (where?.test(file) ?? true) && (near?.test(excerpt) ?? true),
    );
    for (const entry of matchingExceptions) used.add(entry);
    return matchingExceptions.length === 0;
  });
  return { found: oncePerFile(uses), used };
}

const remedies: Record<Piece['kind'], string> = {
  script: 'write it with what the floor has, or ask for it first',
  style: 'put a declaration that the floor can read before it, or @supports around it',
  markup: 'do without it, or make sure that the page works where it is ignored',
};

/** Formats a finding: file, feature, browser, remedy and excerpt. */
export function describeBeyond({ file, kind, feature, lacking, times, excerpt }: BeyondFloor): string {
  const repetition = times > 1 ? ` (${times} times)` : '';
  if (feature === 'syntax')
    return `${file}: ${lacking}: let the build compile it (source.include of the build settings) or take another library\n    ${excerpt.trim()}`;
  const remedy = `${remedies[kind]}; what breaks nothing goes into the list of exceptions with its reason`;
  return `${file}: ${feature}${repetition} is not in ${lacking}: ${remedy}\n    ${excerpt.trim()}`;
}

const HELP = `liaozhai-floor [folder]   what a build has that the oldest supported browsers lack (default: dist)

Exceptions stand in package.json, each with its reason; "file" is a part of the file's path:
  "floor": [{ "features": [".startViewTransition()"], "file": "static/js/chart", "why": "asked for first" }]`;

const text = v.pipe(v.string(), v.regex(/\S/));
const exceptionsSchema = v.object({
  floor: v.optional(
    v.array(v.object({ features: v.pipe(v.array(v.string()), v.nonEmpty()), why: text, file: v.optional(text) })),
    [],
  ),
});

/** Reads a team's exceptions from `floor` in its package.json. Throws for one without features or reason. */
export function exceptionsOf(source: string): Allowed[] {
  const parsed = v.safeParse(exceptionsSchema, JSON.parse(source));
  if (!parsed.success)
    throw new Error('each exception of "floor" in package.json needs a list of "features", "why" and perhaps "file"');
  return parsed.output.floor.map(({ file, ...exception }) => ({
    ...exception,
    ...(file !== undefined && { where: new RegExp(file.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) }),
  }));
}

/** `liaozhai-floor [folder]` of the package: checks a team's build. Returns the exit code. */
async function main(args: readonly string[]): Promise<number> {
  if (args.some((argument) => argument.startsWith('-'))) {
    console.log(HELP);
    return args.some((argument) => argument === '--help' || argument === '-h') ? 0 : 2;
  }
  const [folder = 'dist'] = args;
  if (!existsSync(folder)) {
    console.error(`✗ there is no folder ${folder}: build first, or name the folder of your build`);
    return 2;
  }
  const teamExceptions = existsSync('package.json') ? exceptionsOf(readFileSync('package.json', 'utf8')) : [];
  const { found, used } = await checkFloor(folder, { floor, allowed: [...allowed, ...teamExceptions] });
  const unusedExceptions = teamExceptions.filter((entry) => !used.has(entry));
  for (const finding of found) console.error(`✗ ${describeBeyond(finding)}`);
  for (const { features } of unusedExceptions)
    console.error(`✗ package.json: nothing built has ${features.join(', ')}: take it out of "floor"`);
  const count = found.length + unusedExceptions.length;
  console.log(count === 0 ? 'floor: all good' : `floor: ${count} to mend`);
  return count === 0 ? 0 : 1;
}

const [, script, ...args] = process.argv;
// npm runs the script through a symbolic link
if (script && import.meta.url === pathToFileURL(realpathSync(script)).href)
  process.exitCode = await main(args).catch((cause: unknown) => {
    console.error(`✗ ${cause instanceof Error ? cause.message : cause}`);
    return 2;
  });
