import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { query } from '../db/database.ts';
import type { TransactionType } from '../db/schema.ts';
import { insufficientBalance } from '../http/httpError.ts';
import { announceBalance } from '../realtime/events.ts';
import type { Services } from '../services.ts';

export interface Entry {
  userId: string;
  type: TransactionType;
  /** Points, negative for what the user spends. */
  amount: number;
  description: string;
  ref: { type: string; id: string };
  /** Unique per user and type, so that nothing is booked twice. */
  key: string;
}

/**
 * Books one entry and moves the balance with it; call it inside a transaction. An entry booked before is left as it is.
 * Returns the balance after it; throws 402 when the balance does not cover it.
 */
export function book(services: Services, entry: Entry): number {
  const { db } = services;
  if (entry.amount === 0 || isBooked(services, entry)) return balanceOf(services, entry.userId);
  const moved = db.first(
    query
      .updateTable('users')
      .set({ balance: sql`balance + ${entry.amount}`, version: sql`version + 1` })
      .where('id', '=', entry.userId)
      .where(sql<boolean>`balance + ${entry.amount} >= 0`)
      .returning('balance'),
  );
  if (!moved) throw insufficientBalance(-entry.amount, balanceOf(services, entry.userId));
  insertEntry(services, entry, moved.balance);
  announceBalance(services, entry.userId);
  return moved.balance;
}

/** Gives back, once, what was booked under a type and key. Returns the points given back. */
export function refund(services: Services, userId: string, type: TransactionType, key: string): number {
  const spent = services.db.first(
    query
      .selectFrom('transactions')
      .selectAll()
      .where((where) => where.and({ user_id: userId, type, ref_key: key })),
  );
  if (!spent) return 0;
  book(services, {
    userId,
    type: 'refund',
    amount: -spent.amount,
    description: `退还：${spent.description}`,
    ref: { type: spent.ref_type, id: spent.ref_id },
    key: `${type}:${key}`,
  });
  return -spent.amount;
}

function isBooked({ db }: Services, { userId, type, key }: Entry): boolean {
  const row = query
    .selectFrom('transactions')
    .select('id')
    .where((where) => where.and({ user_id: userId, type, ref_key: key }));
  return db.first(row) !== undefined;
}

export function balanceOf({ db }: Services, userId: string): number {
  return db.first(query.selectFrom('users').select('balance').where('id', '=', userId))?.balance ?? 0;
}

function insertEntry(
  { db, clock }: Services,
  { userId, type, amount, description, ref, key }: Entry,
  balance: number,
): void {
  db.run(
    query.insertInto('transactions').values({
      id: randomUUID(),
      user_id: userId,
      type,
      amount,
      balance_after: balance,
      description,
      ref_type: ref.type,
      ref_id: ref.id,
      ref_key: key,
      created_at: clock(),
    }),
  );
}
