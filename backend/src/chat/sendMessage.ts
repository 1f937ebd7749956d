import * as v from 'valibot';
import type { ConversationRow, MessageRow, UserRow } from '../db/schema.ts';
import { conflict, invalid } from '../http/http.ts';
import type { PaidOutcome } from '../http/idempotency.ts';
import { id, text, wholeNumber } from '../http/input.ts';
import { announceMessage } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findShownStory } from '../stories.ts';
import { book } from '../wallet.ts';
import {
  assertIdle,
  conversationWith,
  createConversation,
  deleteMessagesAfter,
  findConversation,
  insertMessage,
  makeCurrent,
  type NewMessage,
  presentConversation,
  saveConversation,
} from './conversation.ts';
import { presentMessage } from './presentMessage.ts';
import { startReply } from './reply.ts';
import { findOwnMessage } from './replyActions.ts';

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
