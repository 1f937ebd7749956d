import { describe, expect, test } from '@rstest/core';
import { infiniteCursorOptions } from './api';

describe('the next page', () => {
  const { getNextPageParam } = infiniteCursorOptions;
  const page = (ids: number[], nextCursor: string | null) => ({ items: ids.map((id) => ({ id })), nextCursor });

  test('is requested with the cursor', () => {
    const first = page([1, 2], 'b');
    expect(getNextPageParam(first, [first])).toBe('b');
  });

  test('is missing at the end', () => {
    const last = page([3], null);
    expect(getNextPageParam(last, [page([1, 2], 'b'), last])).toBeNull();
  });

  test('is missing after a page without new rows, since a bad cursor returns the first page', () => {
    const again = page([1, 2], 'b');
    expect(getNextPageParam(again, [page([1, 2], 'b'), again])).toBeNull();
  });
});
