import type { Releases } from '@liaozhai/releases';
import { beaconSchema } from '@liaozhai/shared/contract';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import * as v from 'valibot';
import { knownVisitor } from './cookies.ts';
import { networkOf } from './forwarded.ts';

const perMinute = 60;
const networks = 10_000;
const remembered = 50_000;

/** One vote per visitor, build and outcome; a bounded memory of who voted. */
class Votes {
  readonly #seen = new Set<string>();

  isNew(vote: string): boolean {
    if (this.#seen.has(vote)) return false;
    if (this.#seen.size >= remembered) this.#seen.clear();
    this.#seen.add(vote);
    return true;
  }
}

/** So many a minute from one network, and from so many networks: a visitor's id is the caller's own choice. */
class RateLimit {
  #counts = new Map<string, number>();
  #minute = 0;

  allows(network: string, now = Date.now()): boolean {
    const minute = Math.floor(now / 60_000);
    if (minute !== this.#minute) this.#counts = new Map();
    this.#minute = minute;
    const count = this.#counts.get(network) ?? (this.#counts.size < networks ? 0 : perMinute);
    if (count >= perMinute) return false;
    this.#counts.set(network, count + 1);
    return true;
  }
}

/** `/beacon`: how builds fare in browsers. Origin-checked, rate-limited, one vote per visitor and build. */
export function beaconRoutes(releases: Releases, trustProxy: boolean): Hono {
  const votes = new Votes();
  const limit = new RateLimit();
  return new Hono().post('/beacon', bodyLimit({ maxSize: 4096 }), async (context) => {
    const origin = context.req.header('origin');
    // every page comes with the cookie, so who has none has seen no page
    const visitor = knownVisitor(context);
    if (!visitor || !origin || !URL.canParse(origin) || new URL(origin).host !== context.req.header('host'))
      return context.body(null, 403);
    if (!limit.allows(networkOf(context, trustProxy))) return context.body(null, 429);
    const beacon = v.safeParse(beaconSchema, await context.req.json().catch(() => null));
    if (!beacon.success) return context.body(null, 422);
    const { build, outcome } = beacon.output;
    if (votes.isNew(`${visitor} ${build} ${outcome}`)) releases.recordHealth(beacon.output, visitor);
    return context.body(null, 204);
  });
}
