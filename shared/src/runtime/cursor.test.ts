import { describe, expect, test } from '@rstest/core';
import { cursorPage, infiniteCursorOptions, toCursorPage, unwrap } from './cursor';

describe('a cursor page', () => {
  const items = [{ id: 1 }];
  const table: [string, unknown, unknown][] = [
    ['of a resource', { data: items, links: {}, meta: { next_cursor: 'n' } }, { items, nextCursor: 'n' }],
    ['in the raw form', { data: items, next_cursor: 'n' }, { items, nextCursor: 'n' }],
    ['that is the last', { data: items, meta: { next_cursor: null } }, { items, nextCursor: null }],
    ['as a bare list', items, { items, nextCursor: null }],
    ['that is none', null, { items: [], nextCursor: null }],
    ['that is a page of HTML', '<html>', { items: [], nextCursor: null }],
  ];
  for (const [name, body, expected] of table)
    test(name, () => {
      expect(toCursorPage(body)).toEqual(expected);
    });

  test('has its items parsed', () => {
    const parse = cursorPage((dto: { id: number }) => dto.id * 2);
    expect(parse({ data: [{ id: 1 }, { id: 2 }], next_cursor: null })).toEqual({ items: [2, 4], nextCursor: null });
  });
});

test('a single entity is found bare or wrapped', () => {
  expect(unwrap({ data: { id: 1 } })).toEqual({ id: 1 });
  expect(unwrap({ id: 1 })).toEqual({ id: 1 });
  expect(unwrap(null)).toBeNull();
});

describe('the next page', () => {
  const { getNextPageParam } = infiniteCursorOptions;
  const page = (ids: number[], nextCursor: string | null) => ({ items: ids.map((id) => ({ id })), nextCursor });

  test('is asked for by the cursor', () => {
    const first = page([1, 2], 'b');
    expect(getNextPageParam(first, [first])).toBe('b');
  });

  test('is none at the end', () => {
    const last = page([3], null);
    expect(getNextPageParam(last, [page([1, 2], 'b'), last])).toBeNull();
  });

  test('is none when a page added nothing, as a bad cursor yields the first page again', () => {
    const again = page([1, 2], 'b');
    expect(getNextPageParam(again, [page([1, 2], 'b'), again])).toBeNull();
  });
});
