import { createHash } from 'node:crypto';

/** Picks from lists the same way for the same seed. */
export class Draw {
  readonly #seed: string;
  #count = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** A number from 0 up to, not including, 1. */
  fraction(): number {
    this.#count += 1;
    return createHash('sha256').update(`${this.#seed}|${this.#count}`).digest().readUInt32BE() / 2 ** 32;
  }

  /** One item; throws on an empty list. */
  one<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.fraction() * items.length)];
    if (item === undefined) throw new Error('nothing to draw from');
    return item;
  }

  /** Up to `count` different items, in drawn order. */
  several<Item>(items: readonly Item[], count: number): Item[] {
    const rest = [...items];
    const drawn: Item[] = [];
    while (drawn.length < count && rest.length > 0) {
      drawn.push(...rest.splice(Math.floor(this.fraction() * rest.length), 1));
    }
    return drawn;
  }
}
