// Responses of unknown backends: each field in each odd form.

type Row = Record<string, unknown>;

/** Values as produced by casts, old rows and manual input. */
export const oddValues: readonly unknown[] = [
  undefined,
  null,
  '',
  ' ',
  0,
  1,
  -1,
  1.5,
  '0',
  '1',
  'true',
  'null',
  'NaN',
  '1e2',
  '-3.00',
  '1234.50',
  1e30,
  '9007199254740993',
  true,
  false,
  [],
  [null],
  {},
  { a: 1 },
  '0000-00-00 00:00:00',
  '2026-11-25 08:00:00',
  1795514400,
  '1795514400',
  1795514400000,
  'gestern',
  '甲\u202e乙',
  '\u200b\u200b',
  '长'.repeat(300),
  '🇨🇳',
];

/** Returns the row once per field and odd value, each with a unique id. */
export const oddRows = (row: Row): Row[] =>
  Object.keys(row)
    .filter((field) => field !== 'id')
    .flatMap((field, at) => oddValues.map((value, index) => ({ ...row, id: `odd-${at}-${index}`, [field]: value })));

/** Returns the body once per odd value, which replaces all fields except `fixedFields`. */
export const oddBodies = (body: Row, fixedFields: readonly string[] = ['id']): Row[] =>
  oddValues.map((value) =>
    Object.fromEntries(
      Object.entries(body).map(([field, original]) => [field, fixedFields.includes(field) ? original : value]),
    ),
  );

const textAttributes = ['aria-label', 'alt', 'title', 'href', 'datetime', 'src', 'placeholder'];
const programmersPattern = /NaN|Invalid Date|undefined|\[object|Infinity|(?<![a-z])null(?![a-z])/i;

/** Visible and spoken texts that contain programmers' words. */
export function programmersWords(): string[] {
  const texts = [...document.body.querySelectorAll('*')].flatMap((element) => [
    ...textAttributes.map((name) => element.getAttribute(name) ?? ''),
    ...[...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent ?? ''),
  ]);
  return texts.filter((text) => programmersPattern.test(text));
}
