import * as v from 'valibot';
import { amount, optional, readAs } from './decode.ts';

// What a refusal says to a reader: the server's words only where a reader can use them.

/** The longest message that a toast shows; a longer one was written for somebody else. */
const MOST_CHARACTERS = 90;
const technical =
  /[<>{}\\]|::|SQLSTATE|Exception|Error\b|Stack trace|https?:|\w\(\)|\.(?:php|js|ts|py|go|rb|java)\b|\d(?:\.\d+){3}|[a-z]\/\w+\/|\bselect\b.+\bfrom\b/i;
/** Names of fields and placeholders: words in small letters, but for the few that a reader knows. */
const identifier =
  /(?:^|[^\w.@-])(?!(?:app|wifi|email|jpe?g|png|gif|webp|pdf|ok)\b):?[a-z][a-z\d]*(?:_[a-z\d]+)*(?![\w.@-])/;
/** Letters of other languages that are written with Chinese ones. */
const foreign = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** A server's message where it is Chinese, short and meant for a reader; undefined otherwise. */
export function readersWords(message: unknown): string | undefined {
  if (typeof message !== 'string') return undefined;
  const words = message.replace(/[\p{C}\s]+/gu, ' ').trim();
  const [han, latin] = [/\p{Script=Han}/gu, /[a-z]/gi].map((letters) => words.match(letters)?.length ?? 0);
  const isChinese = han !== undefined && latin !== undefined && han > 0 && han * 2 >= latin;
  const isForReaders =
    isChinese && words.length <= MOST_CHARACTERS && ![technical, identifier, foreign].some((kind) => kind.test(words));
  return isForReaders ? words : undefined;
}

const figures = v.object(optional({ required: amount, balance: amount }));

/** What a 402 names: the price, and what the reader has; both are 0 where it does not name both. */
export function pointsOf(body: unknown): { required: number; balance: number } {
  const { required, balance } = readAs(figures, body) ?? {};
  return typeof required === 'number' && typeof balance === 'number'
    ? { required, balance }
    : { required: 0, balance: 0 };
}
