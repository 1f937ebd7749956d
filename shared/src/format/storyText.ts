import { isBlank } from '../contract/visible';

/** A run of text of one kind: plain, `*动作*` or `**重点**`. */
export interface Passage {
  kind: 'plain' | 'action' | 'strong';
  text: string;
}

const PASSAGES = /\*\*(?<strong>[^*\n]+)\*\*|\*(?<action>[^*\n]+)\*|(?<speech>“[^“”\n]*”|「[^「」\n]*」)/gu;
/** A mark that is still open at the end of a growing line. */
const OPEN_MARK = /(?<marks>\*\*?)(?<text>[^*\n]*)$/u;

/**
 * Splits a line into passages. A lone asterisk stays text, unless the text is `growing` and may still close it. Marks within “对白”
 * or 「对白」 do not extend beyond it. Adjacent plain passages are merged.
 */
export function passagesOf(line: string, growing = false): Passage[] {
  const passages: Passage[] = [];
  let end = 0;
  for (const match of (growing ? withLastMark(line) : line).matchAll(PASSAGES)) {
    append(passages, { kind: 'plain', text: line.slice(end, match.index) }, ...passagesIn(match));
    end = match.index + match[0].length;
  }
  const rest = line.slice(end);
  append(passages, ...(growing ? openPassages(rest) : [{ kind: 'plain' as const, text: rest }]));
  return passages;
}

function append(passages: Passage[], ...more: Passage[]): void {
  for (const passage of more) {
    const last = passages.at(-1);
    if (passage.text === '') continue;
    if (passage.kind === 'plain' && last?.kind === 'plain') last.text += passage.text;
    else passages.push({ ...passage });
  }
}

/** Adds the second closing asterisk, which may not have arrived yet. */
const withLastMark = (line: string) => (/\*\*[^*\n]+\*$/u.test(line) ? `${line}*` : line);

function passagesIn({ 0: match, groups }: RegExpMatchArray): Passage[] {
  if (groups?.strong) return [{ kind: 'strong', text: groups.strong }];
  if (groups?.action) return [{ kind: 'action', text: groups.action }];
  if (!match.includes('*')) return [{ kind: 'plain', text: match }];
  const [opening, closing] = [match.slice(0, 1), match.slice(-1)];
  return [{ kind: 'plain', text: opening }, ...passagesOf(match.slice(1, -1)), { kind: 'plain', text: closing }];
}

function openPassages(rest: string): Passage[] {
  const openMark = OPEN_MARK.exec(rest);
  if (!openMark) return [{ kind: 'plain', text: rest }];
  const passages: Passage[] = [];
  if (openMark.index > 0) passages.push({ kind: 'plain', text: rest.slice(0, openMark.index) });
  const text = openMark.groups?.text;
  if (text) passages.push({ kind: openMark.groups?.marks === '**' ? 'strong' : 'action', text });
  return passages;
}

/** Returns the text without marks. A mark at the end of a `growing` text may still be open. */
export function wordsOf(text: string, growing = false): string {
  const lines = text.split('\n');
  return lines
    .map((line, order) => passagesOf(line, growing && order === lines.length - 1).map((passage) => passage.text))
    .map((words) => words.join(''))
    .join('\n')
    .trim();
}

/** Whether nothing of a story text is visible. */
export const saysNothing = (text: string): boolean => isBlank(wordsOf(text));

/** Returns the non-empty lines of a text, trimmed. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
