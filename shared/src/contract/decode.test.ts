import { describe, expect, test } from '@rstest/core';
import * as v from 'valibot';
import {
  amount,
  count,
  day,
  flag,
  id,
  instant,
  label,
  mark,
  optional,
  parseJson,
  prose,
  readAs,
  rows,
  seconds,
} from './decode';

const read = (schema: v.GenericSchema) => (value: unknown) => readAs(schema, value);

describe('a moment', () => {
  const at = '2026-11-25T08:00:00.000Z';

  test.each([
    '2026-11-25T08:00:00.000000Z',
    '2026-11-25T16:00:00+08:00',
    '2026-11-25T16:00:00+0800',
    '2026-11-25 16:00:00.000+08',
    '20261125T080000Z',
    '20261125T160000+0800',
    '2026-11-25 08:00:00',
    '2026-11-25 08:00',
    '2026-11-25T08:00:00',
    '2026-11-25 08:00:00 UTC',
    'Wed, 25 Nov 2026 08:00:00 GMT',
    'Wed, 25 Nov 2026 16:00:00 +0800',
    1795593600,
    1795593600000,
    '1795593600',
    '1795593600000',
    1795593600.0,
    1795593600000123,
    '1795593600000123',
    '1795593600000123456',
    { date: '2026-11-25 08:00:00.000000', timezone_type: 3, timezone: 'UTC' },
    { date: '2026-11-25 16:00:00.000000', timezone_type: 1, timezone: '+08:00' },
    { date: '2026-11-25 16:00:00.000000', timezone_type: 3, timezone: 'Asia/Shanghai' },
    { date: '2026-11-25 16:00:00.000000', timezone_type: 3, timezone: 'PRC' },
    { date: '2026-11-25 16:00:00.000000', timezone_type: 3, timezone: 'Asia/Chongqing' },
    { date: '2026-11-25 16:00:00.000000', timezone_type: 3, timezone: 'Asia/Hong_Kong' },
    { date: '2026-11-25 08:00:00.000000', timezone_type: 2, timezone: 'Z' },
    { date: '2026-11-25 08:00:00.000000', timezone_type: 3, timezone: 'Etc/UTC' },
    '2026-11-25 16:00:00 Asia/Shanghai',
    '2026-11-25T16:00+08:00[Asia/Shanghai]',
    '20261125080000',
    20261125080000,
  ])('is read from %j', (raw) => {
    expect(readAs(instant, raw)).toBe(at);
  });

  test.each([
    '0000-00-00 00:00:00',
    '',
    ' ',
    'gestern',
    '2026-02-30',
    '2026-13-01',
    '25.11.2026',
    '2026-11-25 08:00:00+99:99',
    { date: '2026-11-25 16:00:00.000000', timezone_type: 2, timezone: 'CST' },
    { date: '2026-11-25 16:00:00.000000', timezone_type: 3, timezone: 'America/New_York' },
    [2026, 11, 25, 8, 0],
    '2026-11-25 08:00:00+08:60',
    'Wed, 25 Nov 2026 08:00:00 +9900',
    '20261325080000',
    0,
    '0',
    -5,
    NaN,
    Infinity,
    1e30,
    true,
    {},
    [],
    '8',
  ])('is not read from %j', (raw) => {
    expect(readAs(instant, raw)).toBeUndefined();
  });

  test('counts as present even if it is unreadable', () => {
    const empty = [null, '', 0, false, '0', 'False', 'no', 'NULL', 'None', 'undefined', {}, []];
    const early = [12345, '1970-01-01 00:00:00', '0000-00-00 00:00:00', '-0001-11-30T00:00:00.000000Z'];
    const none = [...empty, ...early, { date: '-0001-11-30 00:00:00.000000', timezone_type: 3, timezone: 'UTC' }];
    expect(none.map(read(mark('deletion_at')))).toEqual(none.map(() => null));
    const seen = ['2026-02-30', 'bald', true, { date: 'bald' }, '2026-11-25 08:00:00'];
    expect(seen.map(read(mark('deletion_at')))).toEqual(['', '', '', '', at]);
  });

  test.each([
    '2026-11-21',
    '20261121',
    '2026-11-21T00:00:00.000000Z',
    '2026-11-20T16:00:00.000000Z',
    '2026-11-21T00:00:00+08:00',
    '2026-11-21 00:00:00',
    '2026-11-21 23:59:59',
    1795190400,
    { date: '2026-11-21 00:00:00.000000', timezone_type: 3, timezone: 'Asia/Shanghai' },
  ])('of a day is its date in %j', (raw) => expect(readAs(day, raw)).toBe('2026-11-21'));

  test.each(['9999-12-31', '9999-12-31 23:59:59', '9999-12-31T23:59:59Z'])('of a day stays in its year in %j', (raw) =>
    expect(readAs(day, raw)).toBe('9999-12-31'),
  );

  test('of a day may be unreadable', () => {
    expect(['2026-02-30', 7, '', null].map(read(day))).toEqual(Array(4).fill(undefined));
  });
});

test('seconds are whole, and not negative', () => {
  expect([600.7, '59.99', 0, -1, 'bald'].map(read(seconds))).toEqual([600, 59, 0, undefined, undefined]);
});

test('amounts are read from decimals, and bounded', () => {
  const raw = [
    '-3.00',
    '\u22123',
    '1e2',
    '1234.50',
    '1,234.50',
    7,
    1e30,
    '-1e30',
    '1e999',
    '-0',
    '',
    ' ',
    'viel',
    '0x10',
    NaN,
    true,
    null,
    {},
  ];
  expect(raw.map(read(amount))).toEqual([
    -3,
    -3,
    100,
    1234.5,
    1234.5,
    7,
    999_999_999_999,
    -999_999_999_999,
    999_999_999_999,
    0,
    ...Array(8).fill(undefined),
  ]);
});

test('counts are whole numbers from 0', () => {
  expect([3, '3', '3.00', 0, 1.5, -1, 1e30, '9007199254740993', 'x'].map(read(count))).toEqual([
    3,
    3,
    3,
    0,
    ...Array(5).fill(undefined),
  ]);
});

test('flags are read from digits and words', () => {
  expect(
    [true, 1, '1', 'true', 'TRUE', false, 0, '0', 'false', 2, '', 'ja', 'constructor', [1], null].map(read(flag)),
  ).toEqual([...Array(5).fill(true), ...Array(4).fill(false), ...Array(6).fill(undefined)]);
});

test('flags are read as other databases and forms write them', () => {
  const words = ['t', 'yes', 'Y', 'on', '\u0001', 'f', 'no', 'N', 'off', '\0'];
  expect(words.map(read(flag))).toEqual([...Array(5).fill(true), ...Array(5).fill(false)]);
});

test('ids are text, without loss of digits', () => {
  const body = parseJson(
    '[{"id":9007199254740992},{"id":9007199254740993},{"id":-9007199254740993},{"id":7,"body":"号 9007199254740993 \\"9007199254740993","x":0.1234567890123456,"y":1e20}]',
  ) as { id: unknown; body?: string; x?: number; y?: number }[];
  expect(body.map((row) => readAs(id, row.id))).toEqual([
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '7',
  ]);
  expect(body[3]?.body).toBe('号 9007199254740993 "9007199254740993');
  expect([body[3]?.x, body[3]?.y]).toEqual([0.1234567890123456, 1e20]);
  expect(['', ' ', null, true, {}, [], NaN, '.', '..', '\ud800', 'a\udc00'].map(read(id))).toEqual(
    Array(11).fill(undefined),
  );
});

test('a label is one line without direction marks, and empty if it is invisible', () => {
  expect(
    [
      '甲\u202e乙\u206a',
      ' 甲\n 乙 ',
      '\u200b\u200b',
      '\u3164',
      '\u2800 ',
      '甲\u0000',
      '👨‍👩‍👧',
      7,
      `e${'\u0301'.repeat(50)}`,
    ].map(read(label)),
  ).toEqual(['甲乙', '甲 乙', '', '', '', '甲', '👨‍👩‍👧', '7', `e${'\u0301'.repeat(4)}`]);
  expect(read(prose)('一\r\n二\u202e三')).toBe('一\n二三');
});

describe('unreadable data', () => {
  const schema = rows(v.object({ id, ...optional({ at: instant, points: amount }) }));
  const unread = (value: unknown) => {
    const fields: string[] = [];
    return { value: readAs(schema, value, (field) => fields.push(field)), fields };
  };

  test('removes its field, else its row, and is reported', () => {
    const { value, fields } = unread([{ id: 1, at: 'x', points: '2.00' }, { at: 1795593600 }, { id: 2, at: null }, 7]);
    expect(value).toEqual([
      { id: '1', at: undefined, points: 2 },
      { id: '2', at: null, points: undefined },
    ]);
    expect(fields).toEqual(['at', 'row without id', 'row without shape']);
  });

  test('includes repeated rows', () => {
    const { value, fields } = unread([{ id: 1 }, { id: '1', of_join: 2 }, { id: 2 }]);
    expect(value).toMatchObject([{ id: '1' }, { id: '2' }]);
    expect(fields).toEqual(['row twice']);
    expect(readAs(rows(label), ['甲', '乙', '甲'])).toEqual(['甲', '乙']);
    const texts = rows(v.object({ id: v.string(), text: v.string() }));
    const differing = ['请她进来', '关门'].map((text) => ({ id: '0', text }));
    expect(readAs(texts, differing)).toEqual(differing);
  });

  test('does not include lists with gaps, as PHP writes them', () => {
    expect(unread({ '0': { id: 1 }, '2': { id: 3 } }).value).toMatchObject([{ id: '1' }, { id: '3' }]);
    expect(unread({}).value).toBeUndefined();
    expect(unread('x').value).toBeUndefined();
  });
});
