import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { isoTime } from '../clock.ts';
import { retryUntilAvailable } from '../db/database.ts';
import type { MessageRow, SuggestionRow, UserRow } from '../db/schema.ts';
import { conflict, gone, invalid, notFound } from '../http/http.ts';
import type { PaidOutcome } from '../http/idempotency.ts';
import { cleanText, id, wholeNumber } from '../http/input.ts';
import { notifyUser } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findStory } from '../stories.ts';
import { book, refund } from '../wallet.ts';
import { suggestionContext } from './context.ts';
import { assertIdle, findConversation, lastMessage } from './conversation.ts';
import { presentError } from './presentMessage.ts';
import { hasToldEnding } from './progress.ts';
import { type FailureCode, failureCode, failureMessage } from './reply.ts';

export const suggestionForm = v.object({
  conversation_id: id,
  count: v.optional(wholeNumber(1, 4), 3),
});

/** Books the price and requests suggestions. Call it inside a transaction. */
export function requestSuggestion(
  services: Services,
  user: UserRow,
  form: v.InferOutput<typeof suggestionForm>,
): PaidOutcome {
  const conversation = findConversation(services, user.id, form.conversation_id);
  assertIdle(conversation);
  if (services.db.find('suggestions', { conversation_id: conversation.id, status: 'pending' }))
    throw conflict('suggestion_pending', '灵感还在酝酿，请稍候');
  const last = lastMessage(services, conversation.id);
  if (!last) throw invalid({ conversation_id: ['对话还没有开始'] });
  const row: SuggestionRow = {
    id: randomUUID(),
    conversation_id: conversation.id,
    user_id: user.id,
    base_version: conversation.version,
    count: form.count,
    status: 'pending',
    runner: services.roster.id,
    items: '[]',
    error_code: null,
    error_message: null,
    // free after an ending, where only restarting and turning back are offered
    cost: hasToldEnding(services, last) ? 0 : services.env.prices.suggestionPrice,
    created_at: services.clock(),
    expires_at: services.clock() + rules.suggestionLifetimeSeconds * 1000,
  };
  book(services, {
    userId: user.id,
    type: 'suggestion',
    amount: -row.cost,
    description: `灵感《${findStory(services, conversation.story_id).title}》`,
    ref: { type: 'suggestion', id: row.id },
  });
  services.db.insert('suggestions', row);
  services.db.afterCommit(() =>
    services.generations.start(row.id, (signal) => writeSuggestion(services, row, last, signal)),
  );
  return { status: 202, cost: row.cost, body: { data: presentSuggestion(row) } };
}

/** Loads a suggestion of the user. Throws 404, or 410 if it has expired. */
export function findSuggestion({ db, clock }: Services, user: UserRow, suggestionId: string): SuggestionRow {
  const row = db.find('suggestions', { id: suggestionId, user_id: user.id });
  if (!row) throw notFound('没有找到这条灵感');
  if (row.expires_at <= clock()) throw gone('灵感已过期');
  return row;
}

export function presentSuggestion(row: SuggestionRow) {
  const texts: string[] = JSON.parse(row.items);
  return {
    id: row.id,
    conversation_id: row.conversation_id,
    base_version: row.base_version,
    status: row.status,
    items: texts.map((text, index) => ({ id: `${row.id}-${index + 1}`, text })),
    error: presentError(row),
    expires_at: isoTime(row.expires_at),
  };
}

/** Ends a pending suggestion, and refunds it if it failed. Does nothing if it has already ended. */
export function endSuggestion(services: Services, row: SuggestionRow, result: string[] | FailureCode): void {
  const { db } = services;
  const isFailure = typeof result === 'string';
  const changes = isFailure
    ? { status: 'failed' as const, error_code: result, error_message: failureMessage(result, false) }
    : { status: 'ready' as const, items: JSON.stringify(result) };
  db.transaction(() => {
    if (db.update('suggestions', { id: row.id, status: 'pending' }, changes) === 0) return;
    if (isFailure) refund(services, row.user_id, 'suggestion', row.id);
    const { id, conversation_id, base_version: version } = row;
    notifyUser(services, row.user_id, 'suggestion.ready', { id, conversation_id, version, status: changes.status });
  });
}

async function writeSuggestion(
  services: Services,
  row: SuggestionRow,
  last: MessageRow,
  signal: AbortSignal,
): Promise<void> {
  try {
    const lines = await services.storyteller.suggest(suggestionContext(services, last), row.count, { signal });
    const items = lines.map((item) => cleanText(item).trim()).filter(Boolean);
    const result = items.length > 0 ? items.slice(0, row.count) : 'storyteller_failed';
    await retryUntilAvailable(() => endSuggestion(services, row, result), { signal });
  } catch (error) {
    await retryUntilAvailable(() => endSuggestion(services, row, failureCode(error)), { signal });
  }
}
