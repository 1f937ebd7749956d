import { BoundedMap } from './BoundedMap.ts';

/** Length of the sliding window in which attempts count. */
export const WINDOW_MS = 60_000;

/** Counts attempts per key in a sliding minute. */
export interface Limiter {
  /** Counts one attempt. Returns 0, or the seconds to wait if the key has reached its limit. */
  take(key: string, perMinute: number): number;
  /** Removes the newest attempt from the count. */
  giveBack(key: string): void;
  clear(key: string): void;
}

export const secondsUntilFree = (oldest: number, now: number): number =>
  Math.max(1, Math.ceil((oldest + WINDOW_MS - now) / 1000));

interface RateLimitOptions {
  /** Maximum number of keys; beyond it the least recently used one is removed. */
  mostKeys?: number;
  /** Monotonic clock in ms: with a wall clock set back, a wait of seconds could become hours. */
  now?: (() => number) | undefined;
}

/** Counts in the memory of one process, up to `mostKeys`. */
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
    const recentTimes = (this.#attempts.get(key) ?? []).filter((time) => time > now - WINDOW_MS);
    const [oldest] = recentTimes;
    const isRefused = oldest !== undefined && recentTimes.length >= perMinute;
    if (!isRefused) recentTimes.push(now);
    this.#attempts.set(key, recentTimes);
    return isRefused ? secondsUntilFree(oldest, now) : 0;
  }

  giveBack(key: string): void {
    this.#attempts.get(key)?.pop();
  }

  clear(key: string): void {
    this.#attempts.delete(key);
  }
}
