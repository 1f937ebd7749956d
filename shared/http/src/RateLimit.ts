import { BoundedMap } from './BoundedMap.ts';

/** The sliding minute in which attempts count. */
export const WINDOW_MS = 60_000;

/** Counts attempts per key in a sliding minute. */
export interface Limiter {
  /** Counts one attempt. Returns 0, or the seconds to wait where the key has used up its minute. */
  take(key: string, perMinute: number): number;
  /** Takes back the newest attempt, which does not count. */
  giveBack(key: string): void;
  clear(key: string): void;
}

export const secondsUntilFree = (oldest: number, now: number): number =>
  Math.max(1, Math.ceil((oldest + WINDOW_MS - now) / 1000));

interface RateLimitOptions {
  /** Keys remembered; of more the least recently used is forgotten. */
  mostKeys?: number;
  /** Milliseconds that only go forward: a clock put back would turn a wait of seconds into one of hours. */
  now?: (() => number) | undefined;
}

/** Counts in the bounded memory of one process. */
export class RateLimit implements Limiter {
  readonly #now: () => number;
  /** Times of the attempts, the least recently used key first. */
  readonly #attempts: BoundedMap<string, number[]>;

  constructor({ mostKeys = 50_000, now = () => performance.now() }: RateLimitOptions = {}) {
    this.#attempts = new BoundedMap(mostKeys);
    this.#now = now;
  }

  take(key: string, perMinute: number): number {
    const now = this.#now();
    const recent = (this.#attempts.get(key) ?? []).filter((time) => time > now - WINDOW_MS);
    const [oldest] = recent;
    const isRefused = oldest !== undefined && recent.length >= perMinute;
    if (!isRefused) recent.push(now);
    this.#attempts.set(key, recent);
    return isRefused ? secondsUntilFree(oldest, now) : 0;
  }

  giveBack(key: string): void {
    this.#attempts.get(key)?.pop();
  }

  clear(key: string): void {
    this.#attempts.delete(key);
  }
}
