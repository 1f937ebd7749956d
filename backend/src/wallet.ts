import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { sql } from 'kysely';
import { isoTime, isoTimeOrNull, shanghaiDate } from './clock.ts';
import { query } from './db/database.ts';
import type { TransactionRow, TransactionType, UserRow } from './db/schema.ts';
import { type AppEnv, insufficientBalance, userOf, writingUser } from './http/http.ts';
import { idempotencyKey, runOnce, type StoredSuccess } from './http/idempotency.ts';
import { readInput, readPage } from './http/input.ts';
import { checkInReward } from './prices.ts';
import { announceBalance, announceUser } from './realtime/events.ts';
import type { Services } from './services.ts';
import { currentStreak, findUser, userUpdate } from './users/user.ts';

interface Entry {
  userId: string;
  type: TransactionType;
  /** Points, negative for spending. */
  amount: number;
  description: string;
  ref: { type: string; id: string };
  /** Unique per user and type, to prevent double booking. The id of `ref` by default. */
  key?: string;
}

/**
 * Books an entry and updates the balance. Call it inside a transaction. Does nothing if the key is already booked.
 * Returns the new balance. Throws 402 if the balance is too low.
 */
export function book(services: Services, entry: Entry): number {
  const { db, clock } = services;
  const { userId: user_id, type, ref, key: ref_key = ref.id, ...rest } = entry;
  if (entry.amount === 0 || db.find('transactions', { user_id, type, ref_key })) return balanceOf(services, user_id);
  const updatedUser = db.first(
    userUpdate({ balance: sql`balance + ${entry.amount}` })
      .where('id', '=', entry.userId)
      .where(sql<boolean>`balance + ${entry.amount} >= 0`)
      .returning('balance'),
  );
  if (!updatedUser) throw insufficientBalance(-entry.amount, balanceOf(services, entry.userId));
  db.insert('transactions', {
    ...rest,
    id: randomUUID(),
    user_id,
    type,
    balance_after: updatedUser.balance,
    ref_type: ref.type,
    ref_id: ref.id,
    ref_key,
    created_at: clock(),
  });
  announceBalance(services, entry.userId);
  return updatedUser.balance;
}

/** Refunds an entry by type and key, at most once. Returns its points; 0 if it does not exist. */
export function refund(services: Services, userId: string, type: TransactionType, key: string): number {
  const spentEntry = services.db.find('transactions', { user_id: userId, type, ref_key: key });
  if (!spentEntry) return 0;
  book(services, {
    userId,
    type: 'refund',
    amount: -spentEntry.amount,
    description: `退还：${spentEntry.description}`,
    ref: { type: spentEntry.ref_type, id: spentEntry.ref_id },
    key: `${type}:${key}`,
  });
  return -spentEntry.amount;
}

export const balanceOf = ({ db }: Services, userId: string): number => db.find('users', { id: userId })?.balance ?? 0;

/** Rewards the first check-in of a day in Shanghai. Call it inside a transaction. */
function checkIn(services: Services, { id }: UserRow): StoredSuccess {
  const { db, clock } = services;
  const user = findUser(services, id);
  const date = shanghaiDate(clock());
  const hasCheckedIn = user.check_in_date === date;
  const streak = hasCheckedIn ? user.check_in_streak : currentStreak(user, clock()) + 1;
  const awarded = hasCheckedIn ? 0 : checkInReward(services.env.prices, streak);
  if (!hasCheckedIn) {
    db.insert('check_ins', { user_id: id, date, streak, awarded });
    db.update('users', { id }, { check_in_date: date, check_in_streak: streak });
    const ref = { type: 'check_in', id: date };
    book(services, { userId: id, type: 'check_in', amount: awarded, description: `签到第 ${streak} 天`, ref });
    announceUser(services, id);
  }
  return {
    status: 200,
    body: { data: { date, streak, awarded, already_checked_in: hasCheckedIn, balance: balanceOf(services, id) } },
  };
}

export function checkInRoutes(services: Services): Hono<AppEnv> {
  return new Hono<AppEnv>().post('/', (c) => {
    const user = writingUser(c, services);
    const input = readInput(c);
    return runOnce(c, services, idempotencyKey(c, input), {}, () => checkIn(services, user));
  });
}

export function transactionRoutes(services: Services): Hono<AppEnv> {
  return new Hono<AppEnv>().get('/', (c) => {
    const type = c.req.query('type');
    const all = receiptsOf(userOf(c).id);
    const receipts = type ? all.where('type', '=', type as TransactionType) : all;
    return c.json(readPage(c, services, receipts, ['position', 'id'], (rows) => rows.map(presentTransaction)));
  });
}

/** Selects a user's entries, each with its payment if the points were bought. */
const receiptsOf = (userId: string) =>
  query
    .selectFrom('transactions')
    .leftJoin('orders', (join) =>
      join.onRef('orders.id', '=', 'transactions.ref_id').on('transactions.ref_type', '=', 'order'),
    )
    .selectAll('transactions')
    .select(['orders.price_cents', 'orders.method', 'orders.paid_at'])
    .where('transactions.user_id', '=', userId);

type ReceiptRow = TransactionRow & { price_cents: number | null; method: string | null; paid_at: number | null };

function presentTransaction(row: ReceiptRow) {
  const { price_cents, method, paid_at } = row;
  return {
    id: row.id,
    type: row.type,
    amount: row.amount,
    balance_after: row.balance_after,
    description: row.description,
    ref_type: row.ref_type,
    ref_id: row.ref_id,
    order: price_cents === null ? null : { id: row.ref_id, price_cents, method, paid_at: isoTimeOrNull(paid_at) },
    created_at: isoTime(row.created_at),
  };
}
