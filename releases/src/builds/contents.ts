import { Script } from 'node:vm';
import type { BuildDescription } from '@liaozhai/shared/contract';
import { parse } from 'acorn';
import { messageOf } from '../errors.ts';
import { jsonOrNull } from '../model/documents.ts';

/** Start of a web page, which servers send in place of a missing file. */
const MARKUP = /^\s*<(?:!doctype|!--|html|head|body)/i;
/** Endings of files that may start like one. */
const MARKUP_ENDING = /\.(?:html|svg|xml|txt|md)$/;
/** What opens or closes a part of a stylesheet; a quoted address is a string. */
const CSS_TOKEN = /\\[^*]|["'{}]|\/\*|\*\/|url\((?!\s*["'])|\)/g;
/** Parts in which other tokens count as text, and their ends. */
const TEXT_ENDS: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['/*', '*/'],
  ['url(', ')'],
]);

const parseScript = (source: string): unknown => new Script(source);
const parseModule = (source: string): unknown => parse(source, { ecmaVersion: 'latest', sourceType: 'module' });

/** Parses a script, without running it. Returns why that failed, or null. */
function parseFailure(source: string, parsers: readonly ((source: string) => unknown)[]): string | null {
  let failure: string | null = null;
  for (const parser of parsers)
    try {
      parser(source);
      return null;
    } catch (cause) {
      failure = messageOf(cause);
    }
  return failure;
}

function scriptProblem(description: BuildDescription, path: string, source: string): string | null {
  const isEntry = path === description.entry;
  const isModule = description.kind === 'remote' && description.entryType === 'module';
  // bundlers may emit an empty ES module, but no empty script
  if (source.trim() === '' && (isEntry || !isModule)) return `${path} is empty`;
  const failure = parseFailure(source, isEntry ? [isModule ? parseModule : parseScript] : [parseScript, parseModule]);
  return failure === null ? null : `${path} does not parse (${failure}): it may be cut off`;
}

function stylesheetProblem(path: string, source: string): string | null {
  let depth = 0;
  let textEnd: string | undefined;
  for (const [token] of source.matchAll(CSS_TOKEN))
    if (textEnd) textEnd = token === textEnd ? undefined : textEnd;
    else {
      textEnd = TEXT_ENDS.get(token);
      depth += token === '{' ? 1 : token === '}' ? -1 : 0;
    }
  return textEnd || depth > 0 ? `${path} ends inside a rule, comment or string: it may be cut off` : null;
}

/** Why a file is not what its name says, as after a failed build or download; or null. */
export function contentProblem(description: BuildDescription, path: string, body: Buffer): string | null {
  if (MARKUP.test(body.subarray(0, 200).toString()) && !MARKUP_ENDING.test(path)) return `${path} is a web page`;
  const [, ending] = /\.(js|mjs|css)$/.exec(path) ?? [];
  if (!ending) return null;
  const source = body.toString('utf8');
  if (jsonOrNull(source) instanceof Object) return `${path} is JSON`;
  return ending === 'css' ? stylesheetProblem(path, source) : scriptProblem(description, path, source);
}
