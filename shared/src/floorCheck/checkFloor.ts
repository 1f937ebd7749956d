#!/usr/bin/env node
import { realpathSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Node } from 'acorn';
import { floor } from '../build/floor.ts';
import { type Allowed, allowed as allowedByDefault } from './allowed.ts';
import { CompatData, type Floor } from './compatData.ts';
import { ownNames, parseScript, type Use, usesOfScript } from './scripts.ts';
import { usesOfStyles } from './styles.ts';

export type { Allowed } from './allowed.ts';
export type { Floor } from './compatData.ts';

/** Something in a built file that a browser of the floor lacks. */
export interface BeyondFloor extends Use {
  file: string;
  kind: Piece['kind'];
  /** how often it stands in the file; the place is that of the first */
  times: number;
  /** the text around it: built files have few lines */
  excerpt: string;
}

export interface FloorReport {
  found: BeyondFloor[];
  /** what of the list of exceptions was needed */
  used: Set<Allowed>;
}

export interface FloorCheckOptions {
  floor: Floor;
  /** default: what the kit and React bring along, each with its reason */
  allowed?: readonly Allowed[];
}

/** One stretch of one language, in a file of its own or inside a page. */
interface Piece {
  file: string;
  kind: 'script' | 'style' | 'markup';
  text: string;
}

const unescaped = (text: string) => text.replace(/<\\\//g, '</');

/** A page's inline scripts and styles, and its tags. */
function piecesOfPage(file: string, html: string): Piece[] {
  const inline = [...html.matchAll(/<(script|style)\b([^>]*)>([\s\S]*?)<\/\1>/gi)]
    .filter(([, , attributes = '']) => !/\btype\s*=\s*["']?application\//i.test(attributes))
    .map(
      ([, name, , text = '']): Piece => ({
        file,
        kind: name?.toLowerCase() === 'style' ? 'style' : 'script',
        text: unescaped(text),
      }),
    );
  const tags = html.replace(/(<(script|style)\b[^>]*>)[\s\S]*?<\/\2>|<!--[\s\S]*?-->/gi, '$1');
  return [...inline, { file, kind: 'markup', text: tags }];
}

/** Prerendered contents and the like are HTML inside JSON. */
const htmlIn = (json: string): string[] =>
  [JSON.parse(json) as unknown]
    .flatMap((value) => (value && typeof value === 'object' ? Object.values(value) : []))
    .filter((value): value is string => typeof value === 'string' && value.startsWith('<'));

function piecesOf(file: string, text: string): Piece[] {
  if (file.endsWith('.js')) return [{ file, kind: 'script', text }];
  if (file.endsWith('.css')) return [{ file, kind: 'style', text }];
  if (file.endsWith('.html')) return piecesOfPage(file, text);
  if (file.endsWith('.json')) return htmlIn(text).flatMap((html) => piecesOfPage(file, html));
  return [];
}

function usesOfMarkup(text: string, data: CompatData): Use[] {
  const uses: Use[] = [];
  for (const { 1: name = '', 2: attributes = '', index } of text.matchAll(
    /<([a-z][\w-]*)((?:\s+[^\s=>/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+))?)*)\s*\/?>/gi,
  ))
    for (const [, attribute = ''] of attributes.matchAll(/\s([^\s=>/]+)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+))?/g)) {
      const lacking = data.lacking(data.attributes.get(attribute.toLowerCase()));
      if (lacking.length > 0)
        uses.push({ feature: `<${name} ${attribute.toLowerCase()}>`, lacking: lacking.join(', '), at: index });
    }
  return uses;
}

function usesOfPieces(pieces: readonly Piece[], data: CompatData): BeyondFloor[] {
  const parsed = new Map<Piece, Node | Use>();
  for (const piece of pieces) if (piece.kind === 'script') parsed.set(piece, parseScript(piece.text));
  // a remote's texts and helpers may stand in one file and be called in another
  const own = new Set([...parsed.values()].flatMap((script) => ('feature' in script ? [] : [...ownNames(script)])));
  const usesOf = (piece: Piece): Use[] => {
    const script = parsed.get(piece);
    if (script) return 'feature' in script ? [script] : usesOfScript(script, own, data);
    return piece.kind === 'style' ? usesOfStyles(piece.text, data) : usesOfMarkup(piece.text, data);
  };
  return pieces.flatMap((piece) =>
    usesOf(piece).map((use) => ({
      ...use,
      file: piece.file,
      kind: piece.kind,
      times: 1,
      excerpt: piece.text.slice(Math.max(0, use.at - 60), use.at + 60).replace(/\s+/g, ' '),
    })),
  );
}

function oncePerFile(uses: readonly BeyondFloor[]): BeyondFloor[] {
  const first = new Map<string, BeyondFloor>();
  for (const use of uses) {
    const key = `${use.file} ${use.feature}`;
    first.set(key, { ...(first.get(key) ?? use), times: (first.get(key)?.times ?? 0) + 1 });
  }
  return [...first.values()];
}

/**
 * Looks through every built script, stylesheet and page below a folder, libraries included, for what the oldest
 * supported browsers lack: syntax, globals, methods, events, HTML attributes, CSS. It reads text and runs nothing, so it
 * cannot see names that are put together at run time, options of calls, or whether a guard works.
 */
export async function checkFloor(
  folder: string,
  { floor, allowed = allowedByDefault }: FloorCheckOptions,
): Promise<FloorReport> {
  const names = (await readdir(folder, { recursive: true }))
    .filter((name) => /\.(js|css|html|json)$/.test(name))
    .sort();
  const files = await Promise.all(
    names.map(async (name) => piecesOf(name.replaceAll(sep, '/'), await readFile(join(folder, name), 'utf8'))),
  );
  const used = new Set<Allowed>();
  const found = usesOfPieces(files.flat(), new CompatData(floor)).filter(({ feature, file, excerpt }) => {
    const exceptions = allowed.filter(
      ({ features, where, near }) =>
        features.includes(feature) && (where?.test(file) ?? true) && (near?.test(excerpt) ?? true),
    );
    for (const entry of exceptions) used.add(entry);
    return exceptions.length === 0;
  });
  return { found: oncePerFile(found), used };
}

const cures: Record<Piece['kind'], string> = {
  script: 'write it with what the floor has, or ask for it first',
  style: 'put a declaration that the floor can read before it, or @supports around it',
  markup: 'do without it, or make sure that the page works where it is ignored',
};

/** File, feature, browser and cure, and the place below. */
export function describeBeyond({ file, kind, feature, lacking, times, excerpt }: BeyondFloor): string {
  const often = times > 1 ? ` (${times} times)` : '';
  if (feature === 'syntax')
    return `${file}: ${lacking}: let the build compile it (source.include of the build settings) or take another library\n    ${excerpt.trim()}`;
  const cure = `${cures[kind]}; what breaks nothing goes into the list of exceptions with its reason`;
  return `${file}: ${feature}${often} is not in ${lacking}: ${cure}\n    ${excerpt.trim()}`;
}

/** `liaozhai-floor [folder]` of the package: looks through what a team built elsewhere. */
async function main(folder = 'dist') {
  const { found } = await checkFloor(folder, { floor });
  for (const beyond of found) console.error(`✗ ${describeBeyond(beyond)}`);
  console.log(found.length === 0 ? 'floor: all good' : `floor: ${found.length} to mend`);
  process.exitCode = found.length === 0 ? 0 : 1;
}

const [, script, folder] = process.argv;
// npm calls it through a link
if (script && import.meta.url === pathToFileURL(realpathSync(script)).href) await main(folder);
