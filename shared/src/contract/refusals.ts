import * as v from 'valibot';
import { amount, optional, readAs } from './decode.ts';

// What a refusal says to a reader: the server's words only where a reader can use them.

/** The longest message that a toast shows; a longer one was written for somebody else. */
const MOST_CHARACTERS = 90;
const technical = /[<>{}\\]|::|SQLSTATE|Exception|Stack trace|https?:|\.php\b|\bselect\b.+\bfrom\b/i;

/** A server's message where it is Chinese, short and meant for a reader; undefined otherwise. */
export function readersWords(message: unknown): string | undefined {
  if (typeof message !== 'string') return undefined;
  const words = message.replace(/[\p{C}\s]+/gu, ' ').trim();
  const [han, latin] = [/\p{Script=Han}/gu, /[a-z]/gi].map((letters) => words.match(letters)?.length ?? 0);
  const isChinese = han !== undefined && latin !== undefined && han > 0 && han * 2 >= latin;
  return isChinese && words.length <= MOST_CHARACTERS && !technical.test(words) ? words : undefined;
}

/** The rules of Laravel's validator, by the words of its English texts and by its keys. */
const rules: [RegExp, (figure: string) => string][] = [
  [/required|validation\.(present|filled)/i, () => '请填写'],
  [/already been taken|validation\.unique/i, () => '已被占用'],
  [/do(es)? not match|validation\.(confirmed|same)/i, () => '两次输入的不一样'],
  [/password is incorrect|validation\.current_password/i, () => '密码不正确'],
  [/credentials|auth\.failed/i, () => '用户名或密码不正确'],
  [/valid email|validation\.email/i, () => '邮箱格式不正确'],
  [/at least (\d+)/i, (figure) => `至少 ${figure} 个字`],
  [/(?:greater|more) than (\d+)/i, (figure) => `最多 ${figure} 个字`],
];

function fieldWords(text: string): string {
  const own = readersWords(text);
  if (own) return own;
  for (const [rule, words] of rules) {
    const match = rule.exec(text);
    if (match) return words(match[1] ?? '');
  }
  return '填写有误';
}

const record = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Every text in a value, however it is nested. */
const textsIn = (value: unknown): string[] =>
  record(value) ? Object.values(value).flatMap(textsIn) : typeof value === 'string' && value ? [value] : [];

/** `user.login` and `items.0.name` mean the fields `login` and `name`. */
const fieldOf = (key: string): string => key.split('.').findLast((part) => !/^\d*$/.test(part)) ?? '';

/** Laravel's `{ field: [text, …] }` in all its forms, in the reader's language; '' is of no field. */
export function fieldErrors(errors: unknown): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  const add = (field: string, texts: string[]) => {
    const words = [...new Set([...(fields[field] ?? []), ...texts.map(fieldWords)])];
    if (words.length > 0) fields[field] = words;
  };
  if (!record(errors)) add('', textsIn(errors));
  else
    for (const [key, value] of Object.entries(errors)) {
      // a list of `{ field, message }`
      const isEntry = record(value) && typeof value.field === 'string' && 'message' in value;
      if (isEntry) add(fieldOf(String(value.field)), textsIn(value.message));
      else add(fieldOf(key), textsIn(value));
    }
  return fields;
}

const figures = v.object(optional({ required: amount, balance: amount }));

/** What a 402 names: the price, and what the reader has; both are 0 where it does not name both. */
export function pointsOf(body: unknown): { required: number; balance: number } {
  const { required, balance } = readAs(figures, body) ?? {};
  return typeof required === 'number' && typeof balance === 'number'
    ? { required, balance }
    : { required: 0, balance: 0 };
}
