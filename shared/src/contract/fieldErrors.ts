import { readersWords } from './refusals.ts';

/** Validation rules, matched by their English texts and by Laravel's keys. */
const rules: [RegExp, (figure: string) => string][] = [
  [/required|blank|not be empty|validation\.(present|filled)/i, () => '请填写'],
  [/already (been taken|exists)|validation\.unique/i, () => '已被占用'],
  [/credentials|auth\.failed/i, () => '用户名或密码不正确'],
  [/password is incorrect|match your current|validation\.current_password/i, () => '密码不正确'],
  [/do(es)? not match|validation\.(confirmed|same)/i, () => '两次输入的不一样'],
  [/too many.* (\d+) seconds/i, (figure) => `试得太频繁，请 ${figure} 秒后再试`],
  [/valid email|be an email|validation\.email/i, () => '邮箱格式不正确'],
  [/(?:at least|minimum is|longer than or equal to) (\d+)/i, (figure) => `至少 ${figure} 个字`],
  [/(?:(?:greater|more) than|at most|maximum is|shorter than or equal to) (\d+)/i, (figure) => `最多 ${figure} 个字`],
];

function translateProblem(text: string): string {
  const serverText = readersWords(text);
  if (serverText) return serverText;
  for (const [rule, words] of rules) {
    const match = rule.exec(text);
    if (match) return words(match[1] ?? '');
  }
  return '填写有误';
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Returns all texts in a value, at any depth. */
const collectTexts = (value: unknown): string[] =>
  isRecord(value) ? Object.values(value).flatMap(collectTexts) : typeof value === 'string' && value ? [value] : [];

/** Names that frameworks use for the form as a whole. */
const wholeForm = /^(_?errors|form_errors|non_field_errors|base|global|form)$/;
/** Keys that contain the fields. */
const wrapper = /^(fieldErrors|properties|children)$/;

/** Maps `user.login`, `user[login]`, `/user/login` and `Login` to `login`, and `items.0.displayName` to `display_name`. */
function toFieldName(place: string): string {
  const part = place.split(/[./[\]]/).findLast((step) => !/^\d*$/.test(step)) ?? '';
  const name = part.replace(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase();
  return wholeForm.test(name) ? '' : name;
}

/** Returns field and texts of a list entry; frameworks differ only in the keys. */
function parseEntry(value: unknown): { place: string; words: unknown } | undefined {
  if (!isRecord(value)) return undefined;
  const { field, loc, path, param, propertyPath, property, source } = value;
  const { message, msg, defaultMessage, detail, title, constraints, errors } = value;
  const place = field ?? loc ?? path ?? param ?? propertyPath ?? property ?? (isRecord(source) && source.pointer);
  const words = message ?? msg ?? defaultMessage ?? detail ?? title ?? constraints ?? errors;
  return place && words ? { place: [place].flat().join('.'), words } : undefined;
}

const flattenErrors = (errors: Record<string, unknown>): [field: string, texts: string[]][] =>
  Object.entries(errors).flatMap(([key, value]): [string, string[]][] => {
    if (wrapper.test(key) && isRecord(value)) return flattenErrors(value);
    const { place, words } = parseEntry(value) ?? { place: key, words: value };
    return [[toFieldName(place), collectTexts(words)]];
  });

/**
 * Converts validation errors to Laravel's `{ field: [text, …] }`, in the user's language; '' is the whole form. If the user filled
 * in nothing, only the server's readable texts stay.
 */
export function fieldErrors(errors: unknown, isFilledIn = true): Record<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const [field, texts] of isRecord(errors) ? flattenErrors(errors) : [['', collectTexts(errors)] as const]) {
    const shownTexts = isFilledIn ? texts.map(translateProblem) : texts.flatMap((text) => readersWords(text) ?? []);
    const allTexts = [...new Set([...(fields.get(field) ?? []), ...shownTexts])];
    if (allTexts.length > 0) fields.set(field, allTexts);
  }
  return Object.fromEntries(fields);
}
