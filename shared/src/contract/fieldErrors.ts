import { readersWords } from './refusals.ts';

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

/** `user.login`, `user[login]`, `/user/login` and `items.0.name` mean the fields `login` and `name`. */
const fieldOf = (place: string): string => place.split(/[./[\]]/).findLast((part) => !/^\d*$/.test(part)) ?? '';

/** Where and what an entry of a list names: FastAPI, Zod, JSON:API, express-validator and Symfony differ in the keys only. */
function entryOf(value: unknown): { place: string; words: unknown } | undefined {
  if (!record(value)) return undefined;
  const { field, loc, path, param, propertyPath, source, message, msg, detail, title } = value;
  const place = field ?? loc ?? path ?? param ?? propertyPath ?? (record(source) && source.pointer);
  const words = message ?? msg ?? detail ?? title;
  return place && words ? { place: [place].flat().join('.'), words } : undefined;
}

/** Laravel's `{ field: [text, …] }` in all its forms, in the reader's language; '' is of no field. */
export function fieldErrors(errors: unknown): Record<string, string[]> {
  const fields = new Map<string, string[]>();
  const add = (field: string, texts: string[]) => {
    const words = [...new Set([...(fields.get(field) ?? []), ...texts.map(fieldWords)])];
    if (words.length > 0) fields.set(field, words);
  };
  if (!record(errors)) add('', textsIn(errors));
  else
    for (const [key, value] of Object.entries(errors)) {
      const { place, words } = entryOf(value) ?? { place: key, words: value };
      add(fieldOf(place), textsIn(words));
    }
  return Object.fromEntries(fields);
}
