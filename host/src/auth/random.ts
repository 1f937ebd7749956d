/** An even integer in [0, limit), from the browser's cryptographic source. */
export function randomBelow(limit: number): number {
  const range = 2 ** 32;
  const fair = range - (range % limit);
  const [draw = 0] = crypto.getRandomValues(new Uint32Array(1));
  return draw < fair ? draw % limit : randomBelow(limit);
}

export function randomOf<Item>(items: ArrayLike<Item>): Item {
  return items[randomBelow(items.length)] as Item;
}

export const randomDigits = (count: number): string => Array.from({ length: count }, () => randomBelow(10)).join('');
