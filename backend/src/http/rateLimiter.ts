import type { Clock } from '../clock.ts';
import { tooMany } from './http.ts';

const windowMs = 60_000;
const maxKeys = 50_000;

/** Counts attempts per key in a sliding minute, in memory. */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #attempts = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts one attempt; throws 429 with `Retry-After` when the key already had `perMinute` of them. */
  take(key: string, perMinute: number): void {
    const now = this.#clock();
    const recent = (this.#attempts.get(key) ?? []).filter((time) => time > now - windowMs);
    const oldest = recent[0];
    if (oldest !== undefined && recent.length >= perMinute) {
      throw tooMany(Math.max(1, Math.ceil((oldest + windowMs - now) / 1000)));
    }
    if (this.#attempts.size > maxKeys) this.#forgetOld(now);
    recent.push(now);
    this.#attempts.set(key, recent);
  }

  /** Takes back the newest attempt, which turned out to be none that counts. */
  giveBack(key: string): void {
    this.#attempts.get(key)?.pop();
  }

  clear(key: string): void {
    this.#attempts.delete(key);
  }

  #forgetOld(now: number): void {
    for (const [key, times] of this.#attempts) {
      if ((times.at(-1) ?? 0) <= now - windowMs) this.#attempts.delete(key);
    }
  }
}
