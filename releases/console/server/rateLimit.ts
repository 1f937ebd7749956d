const MOST_CALLERS = 10_000;

/** Counts per caller and minute, in bounded memory. */
export class RateLimit {
  readonly #perMinute: number;
  #counts = new Map<string, number>();
  #minute = 0;

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Counts one and says whether that was still within the limit. */
  allows(caller: string, now = Date.now()): boolean {
    const count = this.#count(caller, now) + 1;
    this.#counts.set(caller, count);
    return count <= this.#perMinute;
  }

  #count(caller: string, now: number): number {
    const minute = Math.floor(now / 60_000);
    if (minute !== this.#minute || this.#counts.size > MOST_CALLERS) this.#counts = new Map();
    this.#minute = minute;
    return this.#counts.get(caller) ?? 0;
  }
}
