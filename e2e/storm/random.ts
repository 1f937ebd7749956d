/** Random numbers determined by a seed, so that a storm can be repeated. */
export interface Random {
  /** from 0 (inclusive) to 1 (exclusive) */
  next(): number;
  /** from `low` (inclusive) to `high` (exclusive) */
  between(low: number, high: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** Picks by weight, such as `{ calm: 3, slow: 1 }`. */
  pickWeighted<Name extends string>(weights: Record<Name, number>): Name;
}

/** Mulberry32, by Tommy Ettinger (public domain): small, and good enough for choices. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number) => low + next() * (high - low);
  return {
    next,
    between,
    pick: (items) => items[Math.floor(next() * items.length)] as (typeof items)[number],
    pickWeighted(weights) {
      const entries = Object.entries(weights) as [keyof typeof weights, number][];
      let remainder = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        remainder -= weight;
        if (remainder < 0) return name;
      }
      return (entries.at(-1) as (typeof entries)[number])[0];
    },
  };
}
