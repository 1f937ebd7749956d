interface Row {
  id: string;
}

interface Page<Item> {
  items: Item[];
}

/** Rows of all pages in order, each once, since pages of a changing list or with a bad cursor overlap. */
export function rowsOf<Item extends Row>(pages: readonly Page<Item>[]): Item[] {
  const byId = new Map<string, Item>();
  for (const row of pages.flatMap(({ items }) => items)) if (!byId.has(row.id)) byId.set(row.id, row);
  return [...byId.values()];
}

/** Rows of the newest page that are not in the loaded ones. */
export function unseenRows<Item extends Row>(pages: readonly Page<Item>[], newest: Page<Item>): Item[] {
  const knownIds = new Set(rowsOf(pages).map(({ id }) => id));
  return newest.items.filter(({ id }) => !knownIds.has(id));
}

/** Whether the newest page does not overlap with the loaded ones, so that rows between the two are missing. */
export const hasGap = <Item extends Row>(pages: readonly Page<Item>[], newest: Page<Item>): boolean =>
  newest.items.length > 0 && unseenRows(pages, newest).length === newest.items.length;

/** Inserts new rows at the top and updates known ones in place. If there is a gap, the newest page replaces the list. */
export function withNewest<Item extends Row, List extends Page<Item>>(pages: List[], newest: List): List[] {
  if (hasGap(pages, newest)) return [newest];
  const newestById = new Map(newest.items.map((row) => [row.id, row]));
  const newRows = unseenRows(pages, newest);
  return pages.map((page, index) => ({
    ...page,
    items: [...(index === 0 ? newRows : []), ...page.items.map((row) => newestById.get(row.id) ?? row)],
  }));
}
