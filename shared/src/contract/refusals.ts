import * as v from 'valibot';
import { amount, optional, readAs } from './decode.ts';

// Server messages are shown only where a user can understand them.

/** Longest message for a toast; a longer one is not meant for users. */
const MAX_CHARACTERS = 90;
const technicalText =
  /[<>{}\\]|::|SQLSTATE|Exception|Error\b|Stack trace|https?:|\w\(\)|\.(?:php|js|ts|py|go|rb|java)\b|\d(?:\.\d+){3}|[a-z]\/\w+\/|\bselect\b.+\bfrom\b/i;
/** Names of fields and placeholders: lower-case words, except the few that users know. */
const identifier =
  /(?:^|[^\w.@-])(?!(?:app|wifi|email|jpe?g|png|gif|webp|pdf|ok)\b):?[a-z][a-z\d]*(?:_[a-z\d]+)*(?![\w.@-])/;
/** Scripts that are mixed with Chinese characters in other languages. */
const foreignScript = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** The message in a body, by the names in various frameworks. */
export const statedMessage = ({ message, msg, detail }: Record<string, unknown>): unknown => message ?? msg ?? detail;

/** Returns a server's message if it is Chinese, short and meant for users; undefined otherwise. */
export function readersWords(message: unknown): string | undefined {
  if (typeof message !== 'string') return undefined;
  const text = message.replace(/[\p{C}\s]+/gu, ' ').trim();
  const [hanCount, latinCount] = [/\p{Script=Han}/gu, /[a-z]/gi].map((letters) => text.match(letters)?.length ?? 0);
  const isChinese = hanCount !== undefined && latinCount !== undefined && hanCount > 0 && hanCount * 2 >= latinCount;
  const isForReaders =
    isChinese &&
    text.length <= MAX_CHARACTERS &&
    ![technicalText, identifier, foreignScript].some((kind) => kind.test(text));
  return isForReaders ? text : undefined;
}

const pointsSchema = v.object(optional({ required: amount, balance: amount }));
const priceSchema = v.object(optional({ price: amount }));

/** Present price in a 409, in points. */
export const priceOf = (body: unknown): number | null | undefined => readAs(priceSchema, body)?.price;

/** Price and balance in a 402, in points; both 0 unless the body contains both. */
export function pointsOf(body: unknown): { required: number; balance: number } {
  const { required, balance } = readAs(pointsSchema, body) ?? {};
  return typeof required === 'number' && typeof balance === 'number'
    ? { required, balance }
    : { required: 0, balance: 0 };
}
