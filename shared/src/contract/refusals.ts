import * as v from 'valibot';
import { amount, flag, optional, readAs, saysNothing } from './decode.ts';

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

/** A status or a code that names a failure, with the HTTP status that it begins with. */
const failing = /^(?:([45]\d\d)(?:\d\d)?|-\d+|false)$|fail|error|exception/i;
/** Codes of success: of C and PHP, of HTTP, and of common admin kits. */
const succeeding = /^(?:[01]|2\d\d|[12]0000)$/;

/**
 * The HTTP status that a body means which was sent with 200 and says of itself that the call failed: `{ code: 500, message }`,
 * `{ success: false }`, `{ status: 'error' }`, `{ error: '…' }`. Undefined for every other body.
 */
export function statedFailure(body: unknown): number | undefined {
  // things have an id or a name, and a status, a code or an error of their own
  if (typeof body !== 'object' || body === null || 'id' in body || 'name' in body) return undefined;
  const { success, ok, status, code, errcode, errno, error, errors, exception, data } = body as Record<string, unknown>;
  // an invitation has a code, too
  const isEnvelope = ['message', 'msg', 'data'].some((key) => key in body);
  const codes = [isEnvelope ? code : undefined, status, errcode, errno]
    .filter((each) => each !== undefined)
    .map(String);
  const isFailed =
    [success, ok].some((each) => readAs(flag, each) === false) ||
    codes.some((each) => failing.test(each)) ||
    // what has brought something has not failed altogether
    (saysNothing(data ?? null) &&
      (![error, errors, exception].every((each) => saysNothing(each ?? null)) ||
        codes.some((each) => /^\d+$/.test(each) && !succeeding.test(each))));
  if (!isFailed) return undefined;
  const named = codes.map((each) => failing.exec(each)?.[1]).find(Boolean);
  return named ? Number(named) : saysNothing(errors ?? null) ? 500 : 422;
}
