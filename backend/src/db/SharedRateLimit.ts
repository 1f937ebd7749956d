import { createHash } from 'node:crypto';
import { type Limiter, secondsUntilFree, WINDOW_MS } from '@liaozhai/http/rate-limit';
import { type Compilable, sql } from 'kysely';
import { type Db, query } from './database.ts';

/** Counts attempts in the database, so that backends which share it share the minute. Each writer waits for the others: no attempt slips in. */
export class SharedRateLimit implements Limiter {
  readonly #db: Db;
  readonly #now: () => number;

  /** Without a clock the database's own counts, since those of several machines differ. */
  constructor(db: Db, now?: () => number) {
    this.#db = db;
    this.#now = now ?? (() => timeOf(db));
  }

  take(key: string, perMinute: number): number {
    const hash = hashOf(key);
    return this.#db.transaction(() => {
      const now = this.#now();
      this.#db.run(query.deleteFrom('attempts').where('at', '<=', now - WINDOW_MS));
      const recent = this.#db.all(query.selectFrom('attempts').select('at').where('key', '=', hash).orderBy('at'));
      if (recent.length < perMinute) this.#db.run(query.insertInto('attempts').values({ key: hash, at: now }));
      return recent.length < perMinute ? 0 : secondsUntilFree(recent[0]?.at ?? now, now);
    });
  }

  giveBack(key: string): void {
    const newest = query.selectFrom('attempts').select(({ fn }) => fn.max('position').as('position'));
    this.#db.run(query.deleteFrom('attempts').where('position', '=', newest.where('key', '=', hashOf(key))));
  }

  clear(key: string): void {
    this.#db.run(query.deleteFrom('attempts').where('key', '=', hashOf(key)));
  }
}

/** Names and networks of readers do not stand in the database. */
const hashOf = (key: string): string => createHash('sha256').update(key).digest('base64url');

function timeOf(db: Db): number {
  const words = sql<{ now: number }>`select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
  const statement = { compile: () => words.compile(query) } as Compilable<{ now: number }>;
  return Number(db.first(statement)?.now);
}
