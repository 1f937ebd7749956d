import { type Expression, sql } from 'kysely';
import * as v from 'valibot';
import { query } from '../db/database.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { type Http, invalid, tooLarge } from './http.ts';

const labels: Record<string, string> = {
  login: '用户名',
  email: '邮箱',
  token: '链接',
  password: '密码',
  password_confirmation: '确认密码',
  current_password: '当前密码',
  name: '昵称',
  gender: '性别',
  avatar: '头像',
  persona: '人设',
  pin: '监护密码',
  body: '内容',
  client_id: '请求编号',
  story_id: '故事',
  conversation_id: '对话',
  message_id: '消息',
  suggestion_id: '灵感',
  count: '数量',
  price: '价格',
  read_version: '读到的版本',
  pinned: '置顶',
  shelved: '收起',
  reason: '理由',
  words: '说明',
  q: '搜索内容',
  tag: '标签',
  sort: '排序',
  package_id: '充值档位',
  revision: '版次',
  variant: '说法',
  last_seq: '末条序号',
  url: '地址',
  kind: '类别',
  contact: '联系方式',
  diagnostics: '诊断信息',
};

export const countCodePoints = (text: string): number => [...text].length;

/** Normalizes line breaks, replaces lone surrogates and removes control characters except tab and line feed. */
export const cleanText = (text: string): string =>
  Buffer.from(text)
    .toString()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '');

/** Whether a text is invisible: it has only blanks, marks without a letter, and characters without a shape. */
export const isInvisible = (text: string): boolean =>
  /^[\s\p{M}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb\u{1d159}]*$/u.test(text);

/** Trimmed text with its length in code points, as PHP's `mb_strlen` counts. */
export const text = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.transform((value) => cleanText(value).trim()),
    v.check((value) => countCodePoints(value) <= max, `不能超过 ${max} 个字符`),
    v.check(
      (value) => countCodePoints(value) >= min,
      ({ input }) => (input === '' ? '不能为空' : `至少 ${min} 个字符`),
    ),
    v.check((value) => min === 0 || value === '' || !isInvisible(value), '至少要有一个看得见的字'),
  );

/** Text that may be missing, which counts as empty. */
export const optionalText = (max: number) => v.pipe(v.nullish(v.string(), ''), text(0, max));

/** An integer, as a number or, for a query, as text. */
export const wholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  v.pipe(v.unknown(), v.toNumber(), v.safeInteger(), v.minValue(min), v.maxValue(max));

export const id = v.pipe(v.string(), v.minLength(1), v.maxLength(64));

/** Parses the JSON object or form of a request. Anything else counts as empty, as in Laravel. */
export function readInput(c: Http): Record<string, unknown> {
  const raw = c.get('body');
  if (c.req.header('content-type')?.includes('application/x-www-form-urlencoded')) {
    return Object.fromEntries(new URLSearchParams(raw));
  }
  try {
    const parsed: unknown = JSON.parse(raw);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : {};
  } catch {
    return {};
  }
}

/** Reads the body as text. Throws 413 once it is too long, even if `Content-Length` is smaller. */
export async function receiveBody(c: Http): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of c.req.raw.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > rules.bodyBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Validates input against a schema. Throws 422 in Laravel's error shape. Unknown fields are ignored. */
export function validate<Schema extends v.GenericSchema>(
  schema: Schema,
  input: Record<string, unknown>,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, input);
  if (parsed.success) return parsed.output;
  const errors: Record<string, string[]> = {};
  for (const issue of parsed.issues) {
    const field = String(issue.path?.[0].key ?? 'input');
    const message = `${labels[field] ?? field}${describe(issue, input[field])}`;
    // a fraction out of range fails two rules with the same message
    errors[field] = [...new Set(errors[field]).add(message)];
  }
  throw invalid(errors);
}

/** Only custom checks have a message for readers. */
function describe(issue: v.BaseIssue<unknown>, value: unknown): string {
  if (issue.type === 'check') return issue.message;
  if (value === undefined || value === null || value === '') return '不能为空';
  return '格式不正确';
}

/** Position of a page's last row: its sorting time and id. */
export interface Position {
  time: number;
  id: string;
}

/** Parses a cursor. Null, which means the first page, if it is missing or malformed. */
export function readCursor(cursor: string | undefined): Position | null {
  if (!cursor) return null;
  const [time, ...id] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const parsed = { time: Number(time), id: id.join(' ') };
  return Number.isSafeInteger(parsed.time) && parsed.id ? parsed : null;
}

const writeCursor = ({ time, id }: Position): string => Buffer.from(`${time} ${id}`).toString('base64url');

/**
 * Builds a page in the shape of Laravel's cursor pagination from its rows and at least one more, if there are more.
 * @param position returns a row's position, for the cursor of the next page.
 * @param queryParameters further query parameters, which the link to the next page repeats.
 */
export function cursorPage<Row, Item>(
  rows: Row[],
  path: string,
  position: (row: Row) => Position,
  present: (rows: Row[]) => Item[],
  queryParameters: Record<string, string> = {},
) {
  const shownRows = rows.slice(0, rules.pageSize);
  const last = shownRows.at(-1);
  const next = rows.length > shownRows.length && last ? writeCursor(position(last)) : null;
  const nextLink = next && `${path}?${new URLSearchParams({ ...queryParameters, cursor: next })}`;
  return {
    data: present(shownRows),
    links: { first: null, last: null, prev: null, next: nextLink },
    meta: { path, per_page: rules.pageSize, next_cursor: next, prev_cursor: null },
  };
}

/**
 * Reads a page of a selection after the request's cursor, newest first.
 * @param order columns of a row's position: its sorting time and its id
 * @param isShown a condition that the database cannot check
 */
export function readPage<Row extends object, Item>(
  c: Http,
  { db }: Pick<Services, 'db'>,
  selection: Expression<Row>,
  order: readonly [time: keyof Row & string, id: keyof Row & string],
  present: (rows: Row[]) => Item[],
  isShown?: (row: Row) => boolean,
) {
  const [time, id] = order;
  const position = readCursor(c.req.query('cursor'));
  const isAfter = position ? sql`(${sql.ref(time)}, ${sql.ref(id)}) < (${position.time}, ${position.id})` : sql`true`;
  const page = sql<Row>`
    select * from ${selection} as page where ${isAfter}
    order by ${sql.ref(time)} desc, ${sql.ref(id)} desc ${isShown ? sql`` : sql`limit ${rules.pageSize + 1}`}`;
  const foundRows = db.all({ compile: () => page.compile(query) });
  const rows = isShown ? foundRows.filter(isShown) : foundRows;
  const positionOf = (row: Row) => ({ time: Number(row[time]), id: String(row[id]) });
  return cursorPage(rows, c.req.path, positionOf, present);
}
