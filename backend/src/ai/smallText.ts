import { isInvisible } from '../http/input.ts';
import { turnEnd, turnStart, turnToken, withPlainTokens } from './chatTemplate.ts';

// Converts a model's Markdown and reasoning to the product's own "small text": paragraphs, *deeds* and “speech”.

const thoughtNames = 'think|thinking|thought|thoughts|reasoning|reflection|analysis';
/** Tags around reasoning. `end` matches a closing tag, `empty` a tag without content. */
const thinkTag = new RegExp(
  [
    `[<＜◁[](?<end>/?)(?:[a-z]{1,8}:)?(?:${thoughtNames})\\s*(?<empty>/?)[>＞▷\\]]`,
    '<\\|(?:begin|(?<after>end))_of_thought\\|>',
    '<\\|channel\\|>(?:(?<final>final)|[a-z]{1,12})[\\w .=]{0,60}<\\|message\\|>',
  ].join('|'),
  'i',
);
/** Labels of the reader's turn at the beginning of a line. No story has a line that begins so. */
const readerLabels = ['user:', 'human:', '用户:', '读者:', '玩家:'];
/** Labels of the model's turn, which are removed at the beginning of a text. */
const storyLabels = ['assistant:', 'response:', '助手:'];

/** Returns the beginning of a line in the form of the labels. */
const labelIn = (line: string): string =>
  line
    .slice(0, 40)
    .replace(/[\s\d#*_<>【】[\]()（）.-]+/g, '')
    .replace('：', ':')
    .toLowerCase();
/** A tool call that the server did not parse. Some have no closing tag. */
const callTag =
  /<(\/?)(?:[a-z]{1,8}:)?(?:tool_calls?|function_calls?|tool_code|tool_response)>|<\|tool\w{1,20}(begin|end)\|>|\[TOOL_CALLS\]|<\|(?:tool_call|python_tag)\|>/gi;
/** A tag, token or line break that is incomplete at the end of the text. */
const tagBeginning = new RegExp(
  [
    '[<＜◁[]/?[a-z:_0-9]{0,19}\\s*/?$|<<?/?S?Y?S?>?$|<\\w{1,24}\\|?$|<\\[\\w{0,24}\\]?$|\\[\\|\\w{0,24}\\|?$',
    '<[|｜][\\w▁ ]{0,40}[|｜]?$|<role>\\w{0,9}(?:</?\\w{0,4})?$|\\](?:~(?:!?b?)?)?$|\\[e~$|\\[(?:/?INST|TOOL_CALLS)\\]$',
    // the name of a role may follow
    `(?:${turnStart})[a-z]{0,9}$`,
    '<\\|channel\\|>[\\w .=]{0,72}(?:<\\|?\\w{0,8}\\|?)?$|\\r$|\\\\(?:r\\\\?)?$',
  ].join('|'),
  'i',
);

/** The lengths are bounded, so that one unclosed bracket does not hold back the rest of a text. */
const link = /!?\[([^\]\n]{0,120})\]\([^)\n]{0,300}\)/g;
/** A complete link, which is skipped, or an incomplete one at the end of a text. */
const linkOrBeginning = /(!?\[[^\]\n]{0,120}\]\([^)\n]{0,300}\))|!?(?:\[[^\]\n]{0,120}(?:\](?:\([^)\n]{0,300})?)?)?$/g;
/** References to search results, which the reader cannot see. */
const citation = /【\d[\d:]{0,8}†[^】\n]{0,80}】|\[(?:\^|citation:)\d{1,3}\^?\]|\^\[\d{1,3}\]/g;
const citationBeginning = /【[^】\n]{0,90}$/;
/** A line of the list of references. */
const footnote = /^\s*\[\^\d{1,3}\]:/;
/** Includes `!`, which may begin a picture even with marks in between, and `^`, which may begin a citation. */
const marksAtEnd = /[*_`~!^]+$/;
const fence = /^\s*(?:```|~~~)/;
const ruler = /^\s*([-*_=])(?:\s*\1){2,}\s*$/;
/** The beginning of a line without a letter may still become a mark. */
const undecidedLine = /^[\s>#\-+*•·●▪=_`~|:\d.)[\]]*$/;
/** The line between the head of a table and its rows. */
const tableRuler = /^[\s:-]*\|[\s|:-]*$/;
/** Table cells become words of a line, since a phone has no room for a table. */
const cellBorder = /\s*\|[\s|]*/g;

/** Removes Markdown from a run of marks, repeatedly, since the rest may form another mark. */
function removeMarks(marks: string): string {
  const remainingMarks = marks
    .replace(/~~|`+/g, '')
    .replace(/\*{4,}/g, '')
    .replace(/\*\*\*/g, '*')
    .replace(/\*\*|__/g, '');
  return remainingMarks === marks ? marks : removeMarks(remainingMarks);
}

/** Returns the replacement of a link or tag. An empty one becomes a blank if marks on both sides would join. */
const replacementFor = (words: string, before: string | undefined): string =>
  words || (before && /[*_`~]/.test(before) ? ' ' : '');

/** No letter or emoji has more marks and joiners than these. */
const markRun = /([\p{M}\p{Join_Control}]{4})[\p{M}\p{Join_Control}]+/gu;
const edgeMarks = /^[*_`~]+|[*_`~]+$/g;
/** Line breaks, also as `\n` in two characters, since a gateway may have escaped the text twice. */
const lineBreak = /\r\n?|[\u2028\u2029]|(?:\\r)?\\n|<br\s*\/?>|<\/p>/gi;
const htmlTag = /<\/?[a-z][a-z0-9_]{0,15}(?:\s+[a-z-]{1,20}=["'][^"'<>\n]{0,120}["']){0,4}\s*\/?>/gi;
const htmlBeginning = /<\/?(?:[a-z][a-z0-9_]{0,15}(?:\s[^<>\n]{0,600})?\/?)?$/i;

/** Returns a line without Markdown; null for a line that consists of a mark. */
function plainLine(line: string): string | null {
  if (ruler.test(line) || tableRuler.test(line) || footnote.test(line) || /^\s*(?:```[^`]*|~~~.*)$/.test(line))
    return null;
  return line
    .replace(/[*_`~]+/g, removeMarks)
    .replace(/^\s*(?:(?:>|#{1,6}|(?:[-+*•·●▪]|\d{1,3}[.)]|\[[ x]\])\s)\s*)+/, '')
    .replace(link, (_, label: string, at: number, line: string) =>
      replacementFor(label.replace(edgeMarks, ''), line[at - 1]),
    )
    .replace(citation, (_, at: number, line: string) => replacementFor('', line[at - 1]))
    .replace(htmlTag, (_, at: number, line: string) => replacementFor('', line[at - 1]))
    .replace(cellBorder, '\u3000')
    .replace(markRun, '$1')
    .trim();
}

/** Returns the part of an unfinished line that later text cannot change. */
function settledPart(line: string): string {
  const label = labelIn(line);
  const mayBeLabelled = [...readerLabels, ...storyLabels].some((one) => one.startsWith(label));
  if (mayBeLabelled || undecidedLine.test(line) || fence.test(line) || footnote.test(line)) return '';
  const settledText = line
    .replace(marksAtEnd, '')
    .replace(citationBeginning, '')
    .replace(linkOrBeginning, (_, whole?: string) => whole ?? '')
    .replace(marksAtEnd, '');
  return undecidedLine.test(settledText) ? '' : settledText.trimEnd();
}

const quotes: Record<string, string> = { '“': '”', '「': '」', '『': '』', '"': '"', '＂': '＂' };

/** A longer quotation is emitted before its end is known. */
const QUOTED_CHARACTERS = 4_000;

/** Returns the index at which the text's first quotation mark is closed; -1 while it is open. */
function closingIndexOf(text: string, open: string): number {
  const close = quotes[open];
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === close && (depth === 1 || open === close) && index > 0) return index;
    if (text[index] === open) depth += 1;
    else if (text[index] === close) depth -= 1;
  }
  return -1;
}

/** Converts a streamed model text to small text. The result does not depend on how the text is cut into pieces. */
export class SmallText {
  #raw = '';
  #isThinking: boolean;
  /** Text that is either reasoning or an answer without reasoning; null once that is known. */
  #undecidedText: string | null;
  /** Whether reasoning had no opening tag: some servers put the tag into the prompt. */
  hasUnmarkedReasoning = false;
  #line = '';
  /** the part of the plain line that was emitted */
  #emittedLine = '';
  /** blanks between the emitted and the next text */
  #gap = '';
  #hasBegun = false;
  /** Whether a visible letter outside reasoning and tokens was received. */
  #hasWords = false;
  /** Whether a token ended the turn, so that the rest of the answer is not needed. */
  isOver = false;
  #isInToolCall = false;
  #endsWithCall = false;
  /** Whether the reader's turn has begun. Only reasoning without an opening tag may still prove that to be wrong. */
  isPastLabel = false;
  /** a text that begins with a quotation mark, held back until it is known whether the marks enclose all of it */
  #quotedText: string | null = null;
  #isFirst = true;

  /**
   * `startsWithReasoning`: the answer is expected to begin with reasoning that has only a closing tag.
   * `hasTurns`: the text is one turn of a conversation, which ends where the reader's turn begins.
   */
  constructor(
    startsWithReasoning = false,
    private readonly hasTurns = true,
  ) {
    this.#isThinking = startsWithReasoning;
    this.#undecidedText = startsWithReasoning ? '' : null;
  }

  /** Whether the text broke off for a call of a tool. */
  get endsWithCall(): boolean {
    return this.#endsWithCall && !this.isPastLabel;
  }

  /** Returns the next final piece. `restart`: the text emitted so far was reasoning without an opening tag. */
  add(text: string): { text: string; restart: boolean } {
    this.#raw = withPlainTokens(this.#raw + text);
    let restart = false;
    let ready = '';
    for (let tag = thinkTag.exec(this.#raw); tag; tag = thinkTag.exec(this.#raw)) {
      const { end, after, final, empty } = tag.groups ?? {};
      const isEnd = Boolean(end || after || final);
      if (!this.#isThinking) ready += this.#removeTokens(this.#raw.slice(0, tag.index));
      this.#raw = this.#raw.slice(tag.index + tag[0].length);
      if (empty) continue;
      if (isEnd && (!this.#isThinking || this.#undecidedText !== null)) {
        this.hasUnmarkedReasoning = true;
        restart ||= !this.#isThinking;
        ready = '';
        this.#reset();
      }
      this.#undecidedText = null;
      this.#isThinking = !isEnd;
    }
    const partialTag = tagBeginning.exec(this.#raw)?.[0] ?? '';
    const rest = this.#raw.slice(0, this.#raw.length - partialTag.length);
    this.#raw = partialTag;
    if (!this.#isThinking) ready += this.#removeTokens(rest);
    else if (this.#undecidedText !== null) this.#undecidedText += rest;
    return { text: this.#unquote(this.#toPlainText(ready)), restart };
  }

  /** Returns the text that was held back. In an incomplete answer, text that may be reasoning is left out. */
  end(isWhole = true): string {
    const isText = !this.#isThinking || (this.#undecidedText !== null && isWhole);
    const isToken = /^<[|｜]/.test(this.#raw);
    const rest = isText ? this.#removeTokens(`${this.#undecidedText ?? ''}${isToken ? '' : this.#raw}`) : '';
    this.#raw = '';
    this.#undecidedText = null;
    const text = this.#unquote(`${this.#toPlainText(rest)}${this.#endLine('')}`);
    if (this.#quotedText === null) return text;
    const quoted = this.#quotedText;
    this.#quotedText = null;
    const close = closingIndexOf(quoted, quoted[0] ?? '');
    return close > 0 && close === quoted.length - 1 ? quoted.slice(1, -1).trim() : quoted;
  }

  #reset(): void {
    this.#line = '';
    this.#emittedLine = '';
    this.#gap = '';
    this.#hasBegun = false;
    this.#hasWords = false;
    this.isOver = false;
    this.#isInToolCall = false;
    this.#endsWithCall = false;
    this.isPastLabel = false;
    this.#quotedText = null;
    this.#isFirst = true;
  }

  /** Removes the tokens of the model's chat template. */
  #removeTokens(text: string): string {
    let words = '';
    let rest = text.replace(lineBreak, '\n');
    while (!this.isOver && rest !== '') {
      const end = turnEnd.exec(rest);
      const turn = this.#withoutCalls(rest.slice(0, end?.index));
      if (end) this.#isInToolCall = false;
      words += turn;
      this.#hasWords ||= !isInvisible(turn);
      rest = end ? rest.slice(end.index + end[0].length) : '';
      this.isOver = end !== null && this.#hasWords;
    }
    return words;
  }

  #withoutCalls(text: string): string {
    let words = '';
    let callStart: number | null = null;
    let at = 0;
    for (const { 0: tag, 1: slash, 2: side, index } of text.matchAll(callTag)) {
      if (!this.#isInToolCall) words += text.slice(at, index).replace(turnToken, '');
      this.#isInToolCall = !slash && side !== 'end';
      if (this.#isInToolCall) callStart = words.length;
      at = index + tag.length;
    }
    if (!this.#isInToolCall) words += text.slice(at).replace(turnToken, '');
    const hasWords = !isInvisible(words.slice(callStart ?? 0));
    this.#endsWithCall = !hasWords && (callStart !== null || this.#endsWithCall);
    return words;
  }

  #toPlainText(text: string): string {
    const lines = text.split('\n');
    const last = lines.pop() ?? '';
    let ready = '';
    for (const line of lines) {
      this.#line += line;
      ready += this.#endLine('\n');
    }
    this.#line += last;
    this.#findLabel(labelIn(this.#line));
    const plain = plainLine(settledPart(this.#line)) ?? '';
    return ready + this.#emit(plain.replace(htmlBeginning, '').trimEnd());
  }

  /** Drops the line and all later ones if it begins the reader's turn, and removes the label of the model's. */
  #findLabel(label: string): void {
    if (!this.hasTurns) return;
    this.isPastLabel ||= readerLabels.some((one) => label.startsWith(one));
    if (this.isPastLabel) this.#line = '';
    else if (!this.#hasBegun && storyLabels.some((one) => label.startsWith(one)))
      this.#line = this.#line.replace(/^(?:[^:：]*[:：](?:\*\*|__)?\s*|\s*#.*)/, '');
  }

  #endLine(end: string): string {
    // a heading and the last line may lack the colon
    const hasColon = end !== '' && !/^\s*#/.test(this.#line);
    this.#findLabel(`${labelIn(this.#line)}${hasColon ? '' : ':'}`);
    const plain = plainLine(this.#line);
    const ready = plain === null ? '' : this.#emit(plain);
    this.#line = '';
    this.#emittedLine = '';
    if (plain !== null) this.#gap += end;
    return ready;
  }

  /** Returns the new part of the plain line with the blanks before it. The text starts and ends without blanks. */
  #emit(plain: string): string {
    const text = plain.slice(this.#emittedLine.length);
    if (this.#hasBegun ? text === '' : isInvisible(text)) return '';
    const gap = this.#hasBegun ? this.#gap.replace(/\n{3,}/g, '\n\n') : '';
    this.#hasBegun = true;
    this.#gap = '';
    this.#emittedLine = plain;
    return gap + text;
  }

  #unquote(text: string): string {
    if (this.#quotedText === null && !(this.#isFirst && text[0] && text[0] in quotes)) {
      if (text) this.#isFirst = false;
      return text;
    }
    this.#isFirst = false;
    this.#quotedText = (this.#quotedText ?? '') + text;
    const close = closingIndexOf(this.#quotedText, this.#quotedText[0] ?? '');
    const mayEncloseAll = close < 0 || close === this.#quotedText.length - 1;
    if (mayEncloseAll && this.#quotedText.length < QUOTED_CHARACTERS) return '';
    const quoted = this.#quotedText;
    this.#quotedText = null;
    return quoted;
  }
}

export function smallText(text: string, hasTurns = true): string {
  const small = new SmallText(false, hasTurns);
  return small.add(text).text + small.end();
}

const sentenceEnd = /(?:[。！？…!?]+|\.(?=\s|["”*]|$))["”』」）)*]*/g;

/** Shortens a cut text to its last complete sentence, if it has one, and closes its open marks. */
export function upToSentence(text: string): string {
  const last = [...text.matchAll(sentenceEnd)].at(-1);
  const whole = last ? text.slice(0, last.index + last[0].length) : text.trimEnd();
  return whole + missingMarksOf(whole);
}

/** Returns the marks that close the open ones of a text's last paragraph. */
export function missingMarksOf(text: string): string {
  const paragraph = text.slice(text.lastIndexOf('\n') + 1);
  const isOpen = (open: string, close: string) => paragraph.lastIndexOf(open) > paragraph.lastIndexOf(close);
  const deeds = paragraph.split('*').length - 1;
  return `${isOpen('“', '”') ? '”' : ''}${isOpen('「', '」') ? '」' : ''}${deeds % 2 ? '*' : ''}`;
}

/** A suggestion fits into one line of the page. */
export const SUGGESTION_CHARACTERS = 20;
/** A sentence up to this length is shortened by its last clauses. A longer one is dropped. */
const SHORTENED_CHARACTERS = 60;

/** Parses the suggestions in a model's answer, in any of the forms that models use for lists. */
export function suggestionLines(answer: string, count: number, offered: string[] = []): string[] {
  const lines = [...new Set(parseList(smallText(answer, false)).map(toSuggestion).filter(Boolean))];
  const others = lines.filter((line) => !offered.includes(line));
  const isPreface = others.length > count && prefacePattern.test(others[0] ?? '');
  return others.slice(isPreface ? 1 : 0).slice(0, count);
}

/** Returns the items of a JSON list, which may be within an object or a code fence; otherwise the lines. */
function parseList(text: string): string[] {
  const json = /[[{][\s\S]*[\]}]/.exec(text)?.[0];
  try {
    const items = json ? itemsOf(JSON.parse(json)) : [];
    if (items.length > 0) return items;
  } catch {
    // not JSON, but a text with a bracket
  }
  return text.split(/\r\n?|\n/);
}

function itemsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(itemsOf);
}

const prefacePattern = /^(?:好的|好[，！。]|当然|没问题|以下|下面|sure|here)/i;
const numberPattern =
  /^\s*(?:[-+*•·●▪>]|#{1,6}\s|[（(]?\d{1,2}[)）、]|(?:\d{1,2}|[A-D])[.．:：](?!\d)|[①-⑳]|第?[一二三四五六七八九十]句?[、.．)）:：]|(?:user|human|用户|读者|玩家)[:：])\s*/i;
const enclosingQuotes = /^["'“”‘’「『《＂]+(.*?)["'“”‘’」』》＂]+[,，;；]?$/;

/** Returns a line without number, marks and quotation marks; empty if a reader would not say it. */
function toSuggestion(line: string): string {
  let text = smallText(line.replace(/^\s*```.*$/, ''), false).replaceAll('*', '');
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(numberPattern, '').replace(enclosingQuotes, '$1').trim();
  }
  if (/[:：]$/.test(text) || isInvisible(text)) return '';
  return [...text].length > SUGGESTION_CHARACTERS ? shorten(text) : text;
}

/** Returns the first sentence or clauses that fit; empty if none do. */
function shorten(text: string): string {
  const characters = [...text];
  if (characters.length > SHORTENED_CHARACTERS) return '';
  const firstMatch = (count: number, pattern: RegExp) => pattern.exec(characters.slice(0, count).join(''))?.[0];
  const sentence = firstMatch(SUGGESTION_CHARACTERS, /^.{4,}?[。！？!?]/u);
  return sentence ?? firstMatch(SUGGESTION_CHARACTERS + 1, /^.{4,}(?=[，,；;、—…])/u) ?? '';
}
