import { Hono } from 'hono';
import { isoTime } from '../clock.ts';
import { query } from '../db/database.ts';
import type { TransactionRow, TransactionType } from '../db/schema.ts';
import { cursorPage, readCursor } from '../http/cursor.ts';
import { type AppEnv, userOf } from '../http/http.ts';
import { idempotencyKey, once } from '../http/idempotency.ts';
import { readInput } from '../http/input.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { checkIn } from './checkIn.ts';

export function checkInRoutes(services: Services): Hono<AppEnv> {
  const { limits, env } = services;
  return new Hono<AppEnv>().post('/', async (c) => {
    const user = userOf(c);
    limits.take(`write:${user.id}`, env.RATE_LIMIT_WRITES);
    const input = await readInput(c);
    return once(c, services, idempotencyKey(c, input), {}, () => checkIn(services, user));
  });
}

export function transactionRoutes(services: Services): Hono<AppEnv> {
  return new Hono<AppEnv>().get('/', (c) => {
    const rows = pageOfTransactions(services, userOf(c).id, c.req.query('cursor'), c.req.query('type'));
    return c.json(cursorPage(rows, c.req.path, ({ position, id }) => ({ time: position, id }), presentTransaction));
  });
}

function pageOfTransactions(
  { db }: Services,
  userId: string,
  cursor: string | undefined,
  type: string | undefined,
): TransactionRow[] {
  const after = readCursor(cursor);
  let page = query
    .selectFrom('transactions')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('position', 'desc')
    .limit(rules.pageSize + 1);
  if (after) page = page.where('position', '<', after.time);
  if (type) page = page.where('type', '=', type as TransactionType);
  return db.all(page);
}

function presentTransaction(row: TransactionRow) {
  return {
    id: row.id,
    type: row.type,
    amount: row.amount,
    balance_after: row.balance_after,
    description: row.description,
    ref_type: row.ref_type,
    ref_id: row.ref_id,
    created_at: isoTime(row.created_at),
  };
}
