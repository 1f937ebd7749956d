import { sql } from 'kysely';
import { query } from '../db/database.ts';
import type { Services } from '../services.ts';
import { eraseDueAccounts } from '../users/accountDeletion.ts';
import { endReply } from './reply.ts';
import { endSuggestion } from './suggestions.ts';

/** In the words of the partial indexes: with bound values the whole of the messages would be read. */
const running = sql<boolean>`status in ('pending', 'streaming')`;
const pending = sql<boolean>`status = 'pending'`;

const sweepIntervalMs = 30_000;

/**
 * Ends, with a refund, whatever the database calls running while nobody writes it: what a killed process left behind. Erases the
 * accounts whose time has come.
 */
function sweep(services: Services): void {
  const { db, runs } = services;
  const replies = db.all(query.selectFrom('messages').select('id').where(running));
  for (const reply of replies)
    if (!runs.has(reply.id)) endReply(services, reply.id, { status: 'failed', code: 'interrupted' });
  const suggestions = db.all(query.selectFrom('suggestions').selectAll().where(pending));
  for (const suggestion of suggestions)
    if (!runs.has(suggestion.id)) endSuggestion(services, suggestion, 'interrupted');
  eraseDueAccounts(services);
}

/** Sweeps now and from time to time; returns the stop. */
export function startSweeper(services: Services): () => void {
  sweep(services);
  const timer = setInterval(() => sweepOrSkip(services), sweepIntervalMs).unref();
  return () => clearInterval(timer);
}

/** Nobody would catch what a timer throws; what a locked file kept from being swept is swept in the next turn. */
function sweepOrSkip(services: Services): void {
  try {
    sweep(services);
  } catch (error) {
    services.report(error);
  }
}
