import { randomUUID } from 'node:crypto';
import { parseJson } from '../model/build.ts';
import type { Store } from '../store/store.ts';

const HELD_MILLISECONDS = 20_000;

/** One holder at a time, across processes; whoever stops renewing loses it after 20 seconds. */
export class Lease {
  readonly #store: Store;
  readonly #key: string;
  readonly #holder = randomUUID();

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#key = `leases/${name}.json`;
  }

  /** Takes the lease, or renews it in the last half of its life: on a file store each renewal is a file. Returns whether it is held now. */
  async hold(now = Date.now()): Promise<boolean> {
    const pointer = await this.#store.readPointer(this.#key);
    const held = pointer ? parseJson(pointer.body, this.#key) : null;
    if (held instanceof Object && 'holder' in held && 'until' in held) {
      const left = Number(held.until) - now;
      if (held.holder !== this.#holder && left > 0) return false;
      if (held.holder === this.#holder && left > HELD_MILLISECONDS / 2) return true;
    }
    const body = JSON.stringify({ holder: this.#holder, until: now + HELD_MILLISECONDS, nonce: randomUUID() });
    return this.#store.swapPointer(this.#key, body, pointer?.tag ?? null);
  }
}
