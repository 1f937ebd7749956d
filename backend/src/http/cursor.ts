import { rules } from '../rules.ts';

/** Where a page ended: the last row's sorting time and id. */
export interface Position {
  time: number;
  id: string;
}

/** Opaque to the client; null on anything that is not one of ours, which then means the first page. */
export function readCursor(cursor: string | undefined): Position | null {
  if (!cursor) return null;
  const [time, ...id] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const parsed = { time: Number(time), id: id.join(' ') };
  return Number.isSafeInteger(parsed.time) && parsed.id ? parsed : null;
}

const writeCursor = ({ time, id }: Position): string => Buffer.from(`${time} ${id}`).toString('base64url');

/**
 * Laravel's cursor page out of up to `pageSize + 1` rows.
 * @param position tells where a row stands, for the cursor of the next page.
 * @param kept what the list was asked with besides, which its next page is asked with as well.
 */
export function cursorPage<Row, Item>(
  rows: Row[],
  path: string,
  position: (row: Row) => Position,
  present: (row: Row) => Item,
  kept: Record<string, string> = {},
) {
  const shown = rows.slice(0, rules.pageSize);
  const last = shown.at(-1);
  const next = rows.length > shown.length && last ? writeCursor(position(last)) : null;
  const nextLink = next && `${path}?${new URLSearchParams({ ...kept, cursor: next })}`;
  return {
    data: shown.map(present),
    links: { first: null, last: null, prev: null, next: nextLink },
    meta: { path, per_page: rules.pageSize, next_cursor: next, prev_cursor: null },
  };
}
