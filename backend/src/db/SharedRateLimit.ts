import { createHash } from 'node:crypto';
import { type Limiter, secondsUntilFree, WINDOW_MS } from '@liaozhai/http/rate-limit';
import { sql } from 'kysely';
import { type Db, query } from './database.ts';

/** Counts attempts in the database, for all backends that share it. Transactions are serialized, so the limit is exact. */
export class SharedRateLimit implements Limiter {
  /** Without `now` uses the database's clock, since the clocks of several machines differ. */
  constructor(
    private readonly db: Db,
    private readonly now = () => timeOf(db),
  ) {}

  take(key: string, perMinute: number): number {
    const hash = hashOf(key);
    return this.db.transaction(() => {
      const now = this.now();
      this.db.run(query.deleteFrom('attempts').where('at', '<=', now - WINDOW_MS));
      const recent = this.db.all(query.selectFrom('attempts').select('at').where('key', '=', hash).orderBy('at'));
      if (recent.length < perMinute) this.db.insert('attempts', { key: hash, at: now });
      return recent.length < perMinute ? 0 : secondsUntilFree(recent[0]?.at ?? now, now);
    });
  }

  giveBack(key: string): void {
    const newest = query.selectFrom('attempts').select(({ fn }) => fn.max('position').as('position'));
    this.db.run(query.deleteFrom('attempts').where('position', '=', newest.where('key', '=', hashOf(key))));
  }

  clear(key: string): void {
    this.db.run(query.deleteFrom('attempts').where('key', '=', hashOf(key)));
  }
}

/** Hashes the key, so that user names and networks are not stored. */
const hashOf = (key: string): string => createHash('sha256').update(key).digest('base64url');

function timeOf(db: Db): number {
  const time = sql<{ now: number }>`select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
  return Number(db.first({ compile: () => time.compile(query) })?.now);
}
