import * as v from 'valibot';
import { commonText } from '../content/content.ts';
import type { ConversationRow, MessageRow, TransactionType, UserRow } from '../db/schema.ts';
import { invalid, notFound } from '../http/http.ts';
import type { PaidOutcome } from '../http/idempotency.ts';
import { countCodePoints, id, wholeNumber } from '../http/input.ts';
import { announceMessage } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findShownStory } from '../stories.ts';
import { balanceOf, book } from '../wallet.ts';
import { assertIdle, findConversation, lastMessage, makeCurrent, saveConversation } from './conversation.ts';
import { isRunning, presentMessage } from './presentMessage.ts';
import { hasToldEnding } from './progress.ts';
import { bookingKey, endReply, findMessage, startReply, textOf } from './reply.ts';

// The reader's actions on the last reply: cancel, continue, regenerate, choose a variant.

/** Loads a message of the user's own conversations. Throws 404 if it is missing or belongs to somebody else. */
export function findOwnMessage(services: Services, user: UserRow, messageId: string): MessageRow {
  const row = findMessage(services, messageId);
  if (row?.user_id !== user.id) throw notFound('没有找到这条消息');
  return row;
}

export const cancelForm = v.object({ revision: v.nullish(wholeNumber(1)) });

/**
 * Stops a running reply and stores its text so far. Does nothing if it has ended or `revision` is another one.
 * Throws 404.
 */
export async function cancelReply(
  services: Services,
  user: UserRow,
  messageId: string,
  { revision }: v.InferOutput<typeof cancelForm>,
) {
  const row = findOwnMessage(services, user, messageId);
  if (isRunning(row) && (revision ?? row.revision) === row.revision) {
    if (services.generations.has(row.id)) await services.generations.cancel(row.id);
    // another backend writes it, and notices the end when it stores the next text
    else endReply(services, row, { status: 'cancelled' });
  }
  return {
    message: presentMessage(findOwnMessage(services, user, messageId)),
    balance: balanceOf(services, user.id),
  };
}

export const continueForm = v.object({ conversation_id: id, message_id: v.nullish(id) });

/** Books the price and continues the last reply as a new revision. Call it inside a transaction. Throws 409 and 422. */
export function continueReply(
  services: Services,
  user: UserRow,
  form: v.InferOutput<typeof continueForm>,
): PaidOutcome {
  const conversation = findConversation(services, user.id, form.conversation_id);
  assertIdle(conversation);
  const last = assertContinuable(lastMessage(services, conversation.id), form.message_id);
  if (hasToldEnding(services, last)) throw invalid({ message_id: [`故事讲完了，${commonText('ending options')}`] });
  const { title, price } = findShownStory(services, conversation.story_id);
  // a reply that was cancelled before its first word was refunded, so continuing it costs the full price
  const cost = last.status === 'cancelled' && last.body === '' ? price : services.env.prices.continuePrice;
  return orderRevision(services, conversation, last, { type: 'continue', cost, description: `续写《${title}》` });
}

/** Returns the last message if it is a reply with room for a continuation. Throws 422. */
function assertContinuable(last: MessageRow | undefined, requestedId: string | null | undefined): MessageRow {
  if (last?.role !== 'assistant') throw invalid({ message_id: ['还没有可以续写的回复'] });
  if (requestedId && requestedId !== last.id) throw invalid({ message_id: ['只能续写最后一条回复'] });
  if (countCodePoints(last.body) > rules.replyCharacters - rules.continuationCharacters)
    throw invalid({ message_id: ['这一段已经足够长，请另起一句'] });
  return last;
}

/** Books a message's price and retells the last reply. Its former text is stored. Call it inside a transaction. */
export function regenerateReply(services: Services, user: UserRow, _: object, { id }: { id: string }): PaidOutcome {
  const { row, conversation } = findLastReply(services, user, id);
  const { title, price } = findShownStory(services, conversation.story_id);
  const purchase = { type: 'message', cost: price, description: `换一种说法《${title}》` } as const;
  if (row.body === '') return orderRevision(services, conversation, row, purchase);
  storeVariant(services, row);
  const variants = row.variants + 1;
  return orderRevision(services, conversation, { ...row, body: '', variant: variants, variants }, purchase);
}

/** Loads the last reply of the user's own conversation. Throws 404, 409 while a reply is written, and 422. */
function findLastReply(services: Services, user: UserRow, messageId: string) {
  const row = findOwnMessage(services, user, messageId);
  const conversation = findConversation(services, user.id, row.conversation_id);
  assertIdle(conversation);
  const isLast = row.seq === conversation.last_seq && row.role === 'assistant';
  if (!isLast) throw invalid({ message_id: ['只有最后一条回复可以换一种说法'] });
  return { row, conversation };
}

interface ReplyPurchase {
  type: TransactionType;
  /** points */
  cost: number;
  description: string;
}

/** Books and starts the next revision of a reply, which continues the given body. */
function orderRevision(
  services: Services,
  conversation: ConversationRow,
  reply: MessageRow,
  { type, cost, description }: ReplyPurchase,
): PaidOutcome {
  makeCurrent(services, conversation);
  const revision = reply.revision + 1;
  const key = bookingKey({ id: reply.id, revision });
  const ref = { type: 'message', id: reply.id };
  const balance = book(services, { userId: reply.user_id, type, amount: -cost, description, ref, key });
  conversation.active_message_id = reply.id;
  const row = saveRevision(services, conversation, {
    ...reply,
    revision,
    status: 'pending',
    runner: services.roster.id,
    error_code: null,
    error_message: null,
    cost: reply.cost + cost,
  });
  announceMessage(services, 'message.created', row);
  startReply(services, row.id);
  return { status: 202, cost, body: { message: presentMessage(row), balance } };
}

/** Stores a changed message with the conversation's next version. */
function saveRevision(services: Services, conversation: ConversationRow, changedMessage: MessageRow): MessageRow {
  conversation.version += 1;
  saveConversation(services, conversation);
  const row = { ...changedMessage, version: conversation.version, updated_at: services.clock() };
  services.db.update('messages', { id: row.id }, row);
  return row;
}

/** Stores the shown text of a reply among its variants. */
function storeVariant({ db }: Services, row: MessageRow): void {
  const { variant, ...text } = textOf(row);
  db.upsert('message_variants', { message_id: row.id, variant }, { ...text, revision: row.revision });
}

export const variantForm = v.object({ variant: wholeNumber(1) });

/** Shows another variant of the last reply, from which the story continues. Call it inside a transaction. */
export function chooseVariant(
  services: Services,
  user: UserRow,
  messageId: string,
  { variant }: v.InferOutput<typeof variantForm>,
) {
  const { row, conversation } = findLastReply(services, user, messageId);
  const balance = balanceOf(services, user.id);
  if (variant === row.variant) return { message: presentMessage(row), balance };
  const chosenVariant = services.db.find('message_variants', { message_id: row.id, variant });
  if (!chosenVariant) throw invalid({ variant: ['没有这一种说法'] });
  storeVariant(services, row);
  // a new revision, so that late deltas of the former text are ignored
  const shownReply = saveRevision(services, conversation, {
    ...row,
    ...textOf(chosenVariant),
    revision: row.revision + 1,
  });
  announceMessage(services, 'message.completed', shownReply);
  return { message: presentMessage(shownReply), balance };
}
