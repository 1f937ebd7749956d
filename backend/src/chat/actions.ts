import * as v from 'valibot';
import { commonText } from '../content/content.ts';
import type { ConversationRow, MessageRow, TransactionType, UserRow } from '../db/schema.ts';
import { conflict, invalid, notFound } from '../http/http.ts';
import type { PaidOutcome } from '../http/idempotency.ts';
import { countCodePoints, id, text, wholeNumber } from '../http/input.ts';
import { announceMessage } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findShownStory } from '../stories.ts';
import { balanceOf, book } from '../wallet.ts';
import {
  assertIdle,
  conversationWith,
  createConversation,
  deleteMessagesAfter,
  findConversation,
  insertMessage,
  lastMessage,
  makeCurrent,
  type NewMessage,
  presentConversation,
  saveConversation,
} from './conversation.ts';
import { isRunning, presentMessage } from './presentMessage.ts';
import { hasToldEnding } from './progress.ts';
import { bookingKey, endReply, findMessage, startReply, textOf } from './reply.ts';

// The reader's actions in a conversation: send or edit a line; cancel, continue, regenerate the last reply or choose a
// variant of it.

export const messageForm = v.pipe(
  v.object({
    story_id: v.nullish(id),
    conversation_id: v.nullish(id),
    body: text(1, rules.messageCharacters),
    suggestion_id: v.nullish(id),
  }),
  v.forward(
    v.check((form) => Boolean(form.story_id || form.conversation_id), '不能为空'),
    ['conversation_id'],
  ),
);

type MessageForm = v.InferOutput<typeof messageForm>;

/** Books the price, stores the reader's message and starts the reply. Call it inside a transaction. */
export function sendMessage(services: Services, user: UserRow, form: MessageForm, call: { key: string }): PaidOutcome {
  const conversation = openConversation(services, user, form);
  assertIdle(conversation);
  const { db } = services;
  // the stored response may have expired
  const client_id = call.key;
  if (db.find('messages', { user_id: user.id, client_id })) throw conflict('duplicate_message', '这条消息已经发送过');
  const { suggestion_id } = form;
  if (suggestion_id && !db.find('suggestions', { id: suggestion_id, conversation_id: conversation.id }))
    throw invalid({ suggestion_id: ['灵感已失效'] });
  const question = appendMessage(services, conversation, {
    role: 'user',
    body: form.body,
    status: 'completed',
    client_id,
    suggestion_id: suggestion_id ?? null,
  });
  return orderReply(services, conversation, question);
}

function orderReply(services: Services, conversation: ConversationRow, question: MessageRow): PaidOutcome {
  const { price, title } = findShownStory(services, conversation.story_id);
  makeCurrent(services, conversation);
  const runner = services.roster.id;
  const reply = appendMessage(services, conversation, { role: 'assistant', status: 'pending', cost: price, runner });
  const balance = book(services, {
    userId: reply.user_id,
    type: 'message',
    amount: -price,
    description: `对话《${title}》`,
    ref: { type: 'message', id: reply.id },
  });
  conversation.active_message_id = reply.id;
  saveConversation(services, conversation);
  startReply(services, reply.id);
  return {
    status: 201,
    cost: price,
    body: {
      message: presentMessage(question),
      reply: presentMessage(reply),
      conversation: presentConversation(services, conversation),
      balance,
    },
  };
}

function openConversation(services: Services, user: UserRow, form: MessageForm): ConversationRow {
  if (form.conversation_id) return findConversation(services, user.id, form.conversation_id);
  const story = findShownStory(services, form.story_id ?? '');
  return conversationWith(services, user.id, story.id) ?? createConversation(services, user.id, story.id);
}

export const editForm = v.object({
  body: text(1, rules.messageCharacters),
  /** The line's revision and the conversation's last seq, as the reader sees them. */
  revision: v.nullish(wholeNumber(1)),
  last_seq: v.nullish(wholeNumber(1)),
});

/**
 * Replaces one of the reader's lines, deletes all later messages and requests a new reply at the price of a message.
 * Call it inside a transaction. Throws 409 if the conversation has changed since the reader saw it.
 */
export function editMessage(
  services: Services,
  user: UserRow,
  { body, revision, last_seq }: v.InferOutput<typeof editForm>,
  { id }: { id: string },
): PaidOutcome {
  const row = findOwnMessage(services, user, id);
  if (row.role !== 'user') throw invalid({ message_id: ['只能编辑自己写的话'] });
  const conversation = findConversation(services, user.id, row.conversation_id);
  assertIdle(conversation);
  if ((revision ?? row.revision) !== row.revision || (last_seq ?? conversation.last_seq) !== conversation.last_seq) {
    throw conflict('conversation_changed', '这段对话刚刚有了变化，请看过再发');
  }
  deleteMessagesAfter(services, conversation, row.seq);
  const { version } = conversation;
  const question = {
    ...row,
    body,
    version,
    revision: row.revision + 1,
    suggestion_id: null,
    updated_at: services.clock(),
  };
  services.db.update('messages', { id: row.id }, question);
  announceMessage(services, 'message.created', question, { last_seq: row.seq });
  return orderReply(services, conversation, question);
}

/** Appends a message to the conversation and announces it. */
function appendMessage(services: Services, conversation: ConversationRow, fields: NewMessage): MessageRow {
  const row = insertMessage(services, conversation, fields);
  announceMessage(services, 'message.created', row);
  return row;
}

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

/** Books and starts the next revision of a reply, which continues the given body. */
function orderRevision(
  services: Services,
  conversation: ConversationRow,
  reply: MessageRow,
  { type, cost, description }: { type: TransactionType; cost: number; description: string },
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
