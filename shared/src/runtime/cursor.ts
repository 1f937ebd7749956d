const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

export interface CursorPage<Item> {
  items: Item[];
  nextCursor: string | null;
}

/** Reads a cursor page in either of Laravel's forms: `{ data, meta: { next_cursor } }` or `next_cursor` on top. */
export function toCursorPage(body: unknown): CursorPage<unknown> {
  const { data, meta, next_cursor } = record(body);
  const cursor = record(meta).next_cursor ?? next_cursor;
  const items = Array.isArray(data) ? data : Array.isArray(body) ? body : [];
  return { items, nextCursor: typeof cursor === 'string' && cursor !== '' ? cursor : null };
}

/** A `transformResponse` for pages of one kind of item. */
export const cursorPage =
  <Item>(parseItem: (dto: never) => Item) =>
  (body: unknown): CursorPage<Item> => {
    const { items, nextCursor } = toCursorPage(body);
    return { items: items.map((item) => parseItem(item as never)), nextCursor };
  };

/** A single entity, bare or wrapped in `data`. */
export function unwrap(body: unknown): unknown {
  const { data } = record(body);
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? data : body;
}

const idOf = (item: unknown): unknown => record(item).id ?? item;

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
