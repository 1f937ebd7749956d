import type { CursorPage } from '../contract';

const idOf = (item: unknown): unknown => (typeof item === 'object' && item !== null && 'id' in item ? item.id : item);

/** A bad cursor yields the first page again: what adds nothing to the pages before it is the end. */
function addsNothing(last: CursorPage<unknown>, pages: CursorPage<unknown>[]): boolean {
  const known = new Set(pages.filter((page) => page !== last).flatMap((page) => page.items.map(idOf)));
  return last.items.every((item) => known.has(idOf(item)));
}

/** Ready for `build.infiniteQuery`. */
export const infiniteCursorOptions = {
  initialPageParam: null as string | null,
  getNextPageParam: (last: CursorPage<unknown>, pages: CursorPage<unknown>[] = []) =>
    addsNothing(last, pages) ? null : last.nextCursor,
};
