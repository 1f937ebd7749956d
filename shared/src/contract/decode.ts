import * as v from 'valibot';
import { clean, isBlank } from './visible.ts';
import { SHANGHAI_MS } from './waits.ts';

/*
 * The only layer that parses backend data. A value that cannot be read counts as missing and is reported by name; a row without
 * an essential field is skipped. docs/api.md lists the accepted forms.
 */

/** Receives the name of each unreadable field, or of the field that a skipped row lacks. */
export type ReportUnread = (field: string) => void;

/** Reporter of the current parse: schemas do not know their caller, and parsing is synchronous. */
const currentParse: { report: ReportUnread } = { report: () => {} };

/** Parses `value` by `schema`; undefined if it has another shape. */
export function readAs<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  report: ReportUnread = currentParse.report,
): v.InferOutput<Schema> | undefined {
  const previousReport = currentParse.report;
  currentParse.report = report;
  const parsed = v.safeParse(schema, value);
  currentParse.report = previousReport;
  return parsed.success ? parsed.output : undefined;
}

/** Schema of the values that `read` returns; undefined means unreadable. */
const createReader = <Value>(expects: string, read: (raw: unknown) => Value | undefined) =>
  v.pipe(
    v.unknown(),
    v.rawTransform<unknown, Value>(({ dataset, addIssue, NEVER }) => {
      const value = read(dataset.value);
      if (value !== undefined) return value;
      addIssue({ message: `no ${expects}` });
      return NEVER;
    }),
  );

type OptionalEntries<Entries> = {
  [Name in keyof Entries]: Entries[Name] extends v.GenericSchema
    ? v.SchemaWithFallback<v.NullishSchema<Entries[Name], undefined>, undefined>
    : never;
};

/** Entries that may be missing or null; an unreadable one is reported and counts as missing. */
export const optional = <Entries extends Record<string, v.GenericSchema>>(entries: Entries) =>
  mapEntries<OptionalEntries<Entries>>(entries, (name, schema) =>
    // a missing key has no dataset
    v.fallback(v.nullish(schema), (dataset?: unknown) => void (dataset && currentParse.report(name))),
  );

type ListEntries<Entries> = {
  [Name in keyof Entries]: Entries[Name] extends v.GenericSchema
    ? v.SchemaWithFallback<
        v.NullishSchema<Rows<Entries[Name]>, v.InferOutput<Entries[Name]>[]>,
        v.InferOutput<Entries[Name]>[]
      >
    : never;
};

/** Entries that are lists, parsed row by row; a missing or unreadable list is empty. */
export const lists = <Entries extends Record<string, v.GenericSchema>>(entries: Entries) =>
  mapEntries<ListEntries<Entries>>(entries, (name, schema) =>
    v.fallback(v.nullish(rows(schema), []), (dataset?: unknown) => {
      if (dataset) currentParse.report(name);
      return [];
    }),
  );

const mapEntries = <Named>(
  entries: Record<string, v.GenericSchema>,
  createSchema: (name: string, schema: v.GenericSchema) => v.GenericSchema,
) => Object.fromEntries(Object.entries(entries).map(([name, schema]) => [name, createSchema(name, schema)])) as Named;

/** PHP encodes a list with gaps as an object: `{"0": …, "2": …}`. */
function toList(raw: unknown): unknown[] | undefined {
  if (Array.isArray(raw)) return raw;
  if (typeof raw !== 'object' || raw === null) return undefined;
  const keys = Object.keys(raw);
  return keys.length > 0 && keys.every((key) => /^\d+$/.test(key)) ? Object.values(raw) : undefined;
}

type Rows<Entry extends v.GenericSchema> = v.GenericSchema<unknown, v.InferOutput<Entry>[]>;

/** Result of `rows` for a list whose rows are all unreadable, which differs from an empty list. */
export const unreadRows: never[] = [];

/** Identity of a row across pages: its id, or the row if it has none. */
export const identityOf = (row: unknown): unknown =>
  typeof row === 'object' && row !== null && 'id' in row ? row.id : row;

/** A list, row by row: skips unreadable rows and reports the field that each one lacks. Skips exact repetitions, too. */
export const rows = <Entry extends v.GenericSchema>(entry: Entry): Rows<Entry> =>
  createReader('list', (raw) => {
    const rawRows = toList(raw);
    // rows that share an id and differ stay: a later state, or a paid item under a careless id, must not be lost
    const seen = new Set<string>();
    const isNew = (row: unknown): boolean => seen.size < seen.add(JSON.stringify(row)).size;
    const readableRows = rawRows?.flatMap((value): v.InferOutput<Entry>[] => {
      const parsed = v.safeParse(entry, value);
      if (parsed.success && isNew(parsed.output)) return [parsed.output];
      currentParse.report(parsed.success ? 'row twice' : `row without ${v.getDotPath(parsed.issues[0]) ?? 'shape'}`);
      return [];
    });
    return rawRows?.length && !readableRows?.length ? unreadRows : readableRows;
  });

/** Names of the rows in various backends. */
const rowNames = ['data', 'items', 'list', 'records', 'results', 'content', 'rows', 'docs'];

/** Returns the response with its rows under `data`: some backends put a paginator there, use another name, or send rows alone. */
export function flatPage(answer: unknown): unknown {
  if (toList(answer)?.length) return { data: answer };
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return answer;
  const { data } = answer as { data?: unknown };
  if (toList(data)) return answer;
  const page = { ...answer, ...(typeof data === 'object' && data) } as Record<string, unknown>;
  const name = rowNames.find((each) => toList(page[each]));
  if (name) return { ...page, data: page[name] };
  // Go encodes an empty list as null; a code, a total or `meta` shows that it is one
  const isNull = rowNames.some((each) => page[each] === null);
  const isPage = Object.keys(page).some((key) => ![...rowNames, 'message', 'msg'].includes(key));
  return isNull && isPage ? { ...page, data: [] } : answer;
}

/** How languages print a missing value. */
const missingValue = /^(null|undefined|nan|\[object object\])$/i;

/** Not usable in a URL: a path step or half of a surrogate pair. */
const invalidId = /^\.{0,2}$|\p{Cs}/u;

/** An id as text, without loss: `parseJson` keeps the digits of large numbers. */
export const id = createReader('id', (raw) => {
  if (typeof raw === 'number') return Number.isFinite(raw) ? String(raw) : undefined;
  const idText = typeof raw === 'string' ? raw.trim() : '';
  return invalidId.test(idText) || missingValue.test(idText) ? undefined : idText;
});
export type Id = string;

/** A body with offsets: unchanged. */
export const verbatim = createReader('text', (raw) =>
  typeof raw === 'number' && Number.isFinite(raw) ? String(raw) : typeof raw === 'string' ? raw : undefined,
);

/** Codes and URLs. */
export const text = v.pipe(
  verbatim,
  v.transform((raw) => (missingValue.test(raw) ? '' : raw.replace(/\p{Cs}/gu, ''))),
);

/** A word of the contract, in lower case: Java and Prisma send enumerations in capitals. */
export const word = v.pipe(
  text,
  v.transform((raw) => raw.trim().toLowerCase()),
);

/** Longest name or title in UTF-16 units; the layout clamps much earlier. */
const MAX_LABEL_LENGTH = 500;

const toLabel = (raw: string): string => {
  const line = clean(raw.slice(0, MAX_LABEL_LENGTH)).replace(/\s+/g, ' ').trim();
  return isBlank(line) ? '' : line;
};

/** A name or title: one line, safe within a sentence; empty if nothing of it is visible. */
export const label = v.pipe(text, v.transform(toLabel));

/** Text of several lines. */
export const prose = v.pipe(
  text,
  v.transform((raw) => (isBlank(raw) ? '' : clean(raw.replace(/\r\n?/g, '\n')))),
);

const numeric = /^[+-]?(\d+|\d{1,3}(,\d{3})+)?(\.\d*)?(e[+-]?\d+)?$/i;

function toNumber(raw: unknown): number | undefined {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : undefined;
  // formatters of some locales write U+2212 for a minus
  const digits = typeof raw === 'string' ? raw.trim().replace('\u2212', '-') : '';
  if (!/\d/.test(digits) || !numeric.test(digits)) return undefined;
  const value = Number(digits.replaceAll(',', ''));
  return Number.isNaN(value) ? undefined : value;
}

/** The largest figure that fits the layout of a phone. */
const MAX_AMOUNT = 999_999_999_999;

/** Points and cents, with the server's decimals; limited to ±`MAX_AMOUNT`. */
export const amount = createReader('amount', (raw) => {
  const value = toNumber(raw);
  return value === undefined ? undefined : Math.max(-MAX_AMOUNT, Math.min(MAX_AMOUNT, value)) || 0;
});

/**
 * A figure of a purchase, with at most these decimals. NaN if it is stated and cannot be shown in full: the page must then not
 * assume another one.
 */
export const figure = (field: string, decimals: number) =>
  createReader<number>('figure', (raw) => {
    const value = toNumber(raw) ?? 0;
    if (value > 0 && value <= MAX_AMOUNT && Number(value.toFixed(decimals)) === value) return value;
    currentParse.report(field);
    return Number.NaN;
  });

/** A duration in whole seconds from 0; PHP counts fractions, too. */
export const seconds = createReader('seconds', (raw) => {
  const value = readAs(amount, raw);
  return value !== undefined && value >= 0 ? Math.floor(value) : undefined;
});

/** A whole number from 0, such as a sequence, version, offset or day. */
export const count = createReader('count', (raw) => {
  const value = toNumber(raw);
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value || 0 : undefined;
});

/** Booleans as JSON, Postgres, MySQL's `BIT` and forms send them. */
const flags = new Map([
  ...['true', '1', 't', 'yes', 'y', 'on', '\u0001'].map((word) => [word, true] as const),
  ...['false', '0', 'f', 'no', 'n', 'none', 'off', '\0'].map((word) => [word, false] as const),
]);

export const flag = createReader('flag', (raw) =>
  ['boolean', 'number', 'string'].includes(typeof raw) ? flags.get(String(raw).trim().toLowerCase()) : undefined,
);

/** `#rrggbb`, background colour of a picture */
export const color = v.pipe(v.string(), v.regex(/^#[\da-f]{6}$/i));

/** ISO 8601 separators are optional; Java appends the zone's name. No zone is more than 14 hours from UTC. */
const isoOrSql =
  /^(\d{4})-?(\d\d)-?(\d\d)(?:[T ]?(\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)? ?(Z|(?:Etc\/)?UTC|GMT|PRC|\[?Asia\/(?:Shanghai|Chongqing|Hong_Kong|Taipei)\]?|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?(?:\[[\w/+-]+\])?)?$/i;
/** RFC 1123 and 2822, always with a zone. */
const rfcDate = /^[a-z]{3}, \d\d? [a-z]{3} \d{4} \d\d:\d\d:\d\d (GMT|UTC|[+-](?:0\d|1[0-4])[0-5]\d)$/i;

const YEAR_10000_MS = 253_402_300_800_000;
/** The year 5138 in seconds, March 1973 in ms: smaller values count as seconds, since no date is older. */
const TIMESTAMP_UNIT_LIMIT = 100_000_000_000;

/** MySQL's zero date, also as Carbon prints it. */
const zeroDate = /^(?:0000|-\d{4,6})-\d\d-\d\d/;

const isTime = (ms: number): boolean => ms >= TIMESTAMP_UNIT_LIMIT && ms < YEAR_10000_MS;

function zoneMs(zone = ''): number {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?/.exec(zone) ?? [];
  if (hours === undefined) return /PRC|Asia/i.test(zone) ? SHANGHAI_MS : 0;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

function parseDateText(raw: string): number | undefined {
  if (zeroDate.test(raw)) return Number.NEGATIVE_INFINITY;
  const parts = isoOrSql.exec(raw);
  if (!parts) return rfcDate.test(raw) ? Date.parse(raw) : undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const fraction = Math.floor(Number(`0.${parts[7] ?? 0}`) * 1000);
  const ms = Date.UTC(year, month - 1, day, hour, minute, second, fraction);
  // `Date.UTC` moves an invalid day, such as 30 February, to another date
  const date = new Date(ms);
  const isReal =
    date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  return isReal ? ms - zoneMs(parts[8]) : undefined;
}

/** Unix time in seconds, milliseconds, microseconds (Carbon's `getPreciseTimestamp()`) or nanoseconds. */
const timestampPattern = /^(\d{1,13}|\d{16}|\d{19})(\.\d+)?$/;

const unitMs = (stamp: number): number =>
  stamp < TIMESTAMP_UNIT_LIMIT ? 1000 : stamp < 1e14 ? 1 : stamp < 1e17 ? 1e-3 : 1e-6;

function parseTime(raw: unknown): number | undefined {
  // Carbon in older Laravel versions: `{ date, timezone_type, timezone }`
  if (typeof raw === 'object' && raw !== null && 'date' in raw)
    return parseTime(`${raw.date}${'timezone' in raw ? String(raw.timezone) : ''}`);
  if (typeof raw !== 'string' && typeof raw !== 'number') return undefined;
  const [text, stamp] = [String(raw).trim(), Number(raw)];
  return parseDateText(text) ?? (timestampPattern.test(text) ? stamp * unitMs(stamp) : undefined);
}

/** A moment as ISO text in UTC, from any accepted form. Without a zone it is UTC, the default of Laravel's `app.timezone`. */
export const instant = createReader('instant', (raw) => {
  const ms = parseTime(raw);
  return ms !== undefined && isTime(ms) ? new Date(ms).toISOString() : undefined;
});

export const isEmptyValue = (raw: unknown): boolean => {
  if (typeof raw === 'object' && raw !== null) return Object.keys(raw).length === 0;
  const word = String(raw).trim().toLowerCase();
  return word === '' || missingValue.test(word) || flags.get(word) === false;
};

/** A moment whose presence matters: ISO text, '' for an unreadable value, null for none or one that is too early to be meant. */
export const mark = (field: string) =>
  createReader<string | null>('moment', (raw) => {
    const ms = parseTime(raw);
    if (ms !== undefined && isTime(ms)) return new Date(ms).toISOString();
    if (isEmptyValue(raw) || (ms !== undefined && ms < TIMESTAMP_UNIT_LIMIT)) return null;
    currentParse.report(field);
    return '';
  });

/** `2026-11-21`, a day in Shanghai; a moment with a zone is converted, since the zone may change the day. */
export const day = createReader('day', (raw) => {
  const ms = parseTime(raw);
  if (ms === undefined || !isTime(ms)) return undefined;
  const parts = isoOrSql.exec(String(raw).trim());
  const isLocal = parts !== null && parts[8] === undefined;
  return new Date(Math.min(ms + (isLocal ? 0 : SHANGHAI_MS), YEAR_10000_MS - 1)).toISOString().slice(0, 10);
});

const bigNumbers = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;

const withoutLoss = (token: string): string =>
  /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token;

/** Returns the JSON with integers beyond 2^53 as strings, since ids may be that large. */
export const losslessJson = (json: string): string =>
  /\d{16}/.test(json) ? json.replace(bigNumbers, withoutLoss) : json;

/** `JSON.parse` without loss of digits, after any byte order marks. Throws as `JSON.parse` does. */
export const parseJson = (json: string): unknown => JSON.parse(losslessJson(json.trim()));
