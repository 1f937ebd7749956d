import { beaconSchema, type Releases } from '@liaozhai/releases';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { visitorOf } from './cookies.ts';

const perMinute = 60;
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

class RateLimit {
  #counts = new Map<string, number>();
  #minute = 0;

  allows(key: string, now = Date.now()): boolean {
    const minute = Math.floor(now / 60_000);
    if (minute !== this.#minute) this.#counts = new Map();
    this.#minute = minute;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count <= perMinute;
  }
}

/** `/beacon`: how builds fare in browsers. Origin-checked, rate-limited, one vote per visitor and build. */
export function beaconRoutes(releases: Releases): Hono {
  const votes = new Votes();
  const limit = new RateLimit();
  return new Hono().post('/beacon', bodyLimit({ maxSize: 4096 }), async (context) => {
    const origin = context.req.header('origin');
    if (!origin || !URL.canParse(origin) || new URL(origin).host !== context.req.header('host'))
      return context.body(null, 403);
    const visitor = visitorOf(context);
    if (!limit.allows(visitor)) return context.body(null, 429);
    const beacon = beaconSchema.safeParse(await context.req.json().catch(() => null));
    if (!beacon.success) return context.body(null, 422);
    const { build, outcome } = beacon.data;
    if (votes.isNew(`${visitor} ${build} ${outcome}`)) releases.recordHealth(beacon.data, visitor);
    return context.body(null, 204);
  });
}
