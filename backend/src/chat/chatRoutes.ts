import { Hono } from 'hono';
import * as v from 'valibot';
import { query } from '../db/database.ts';
import type { ConversationRow, UserRow } from '../db/schema.ts';
import { type AppEnv, type Http, invalid, priceChanged, restarting, userOf, writingUser } from '../http/http.ts';
import { idempotencyKey, type PaidOutcome, requiredKey, runOnce, type StoredSuccess } from '../http/idempotency.ts';
import { id, readCursor, readInput, readPage, text, validate, wholeNumber } from '../http/input.ts';
import { presentPrices } from '../prices.ts';
import { notifyUser } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findStory, normalizeForSearch } from '../stories.ts';
import { assertMayUse } from '../users/minor.ts';
import { findUser } from '../users/user.ts';
import { recordUse } from '../users/userRoutes.ts';
import { refund } from '../wallet.ts';
import {
  cancelForm,
  cancelReply,
  chooseVariant,
  continueForm,
  continueReply,
  editForm,
  editMessage,
  messageForm,
  regenerateReply,
  sendMessage,
  variantForm,
} from './actions.ts';
import {
  announceConversation,
  conversationsOf,
  deleteMessagesAfter,
  excerpt,
  findConversation,
  lastMessageWithText,
  makeCurrent,
  markAsRead,
  presentConversation,
  saveConversation,
  shelve,
  updateUnreadConversations,
} from './conversation.ts';
import { daysOf, daysQuery, findMessages, findQuery, latestMessages, latestQuery } from './message.ts';
import { findMessage, refundReply } from './reply.ts';
import { presentReport, reportForm, reportReply } from './reports.ts';
import { findSuggestion, presentSuggestion, requestSuggestion, suggestionForm } from './suggestions.ts';

/** Routes below `/v1/messages`. */
export function chatRoutes(services: Services): Hono<AppEnv> {
  const { env } = services;
  return new Hono<AppEnv>()
    .post('/', (c) => runPaid(c, services, env.RATE_LIMIT_MESSAGES, messageForm, sendMessage))
    .post('/continue', (c) => runPaid(c, services, env.RATE_LIMIT_MESSAGES, continueForm, continueReply))
    .post('/suggestion', (c) => runPaid(c, services, env.RATE_LIMIT_WRITES, suggestionForm, requestSuggestion))
    .post('/:id/cancel', async (c) => {
      const user = writingUser(c, services);
      const form = validate(cancelForm, readInput(c));
      return c.json(await cancelReply(services, user, c.req.param('id'), form));
    })
    .post('/:id/regenerate', (c) => runPaid(c, services, env.RATE_LIMIT_MESSAGES, v.object({}), regenerateReply))
    .post('/:id/edit', (c) => runPaid(c, services, env.RATE_LIMIT_MESSAGES, editForm, editMessage))
    .post('/:id/variant', (c) => {
      const user = writingUser(c, services);
      const form = validate(variantForm, readInput(c));
      return c.json(services.db.transaction(() => chooseVariant(services, user, c.req.param('id'), form)));
    })
    .get('/latest', (c) => {
      const user = userOf(c);
      const latestRequest = validate(latestQuery, c.req.query());
      if (!latestRequest.conversation_id && !latestRequest.story_id)
        throw invalid({ conversation_id: ['对话不能为空'] });
      return c.json(latestMessages(services, user, latestRequest));
    })
    .get('/search', (c) => c.json(findMessages(services, userOf(c), validate(findQuery, c.req.query()))))
    .get('/days', (c) => c.json(daysOf(services, userOf(c), validate(daysQuery, c.req.query()))))
    .post('/:id/report', (c) => {
      const user = writingUser(c, services);
      const form = validate(reportForm, readInput(c));
      const { isNew, report } = reportReply(services, user, c.req.param('id'), form);
      return c.json({ data: presentReport(report) }, isNew ? 201 : 200);
    })
    .get('/suggestion/:id', (c) => {
      const suggestion = findSuggestion(services, userOf(c), c.req.param('id'));
      if (suggestion.status === 'pending') c.header('Retry-After', '1');
      return c.json({ data: presentSuggestion(suggestion) });
    });
}

/** The price that the reader was shown. Not part of the idempotent request, which may be repeated at another price. */
const shownPriceForm = v.object({ price: v.nullish(wholeNumber(0)) });

/** Runs a call that costs points once per idempotency key. Throws if its price is higher than the one shown. */
function runPaid<Schema extends v.GenericSchema>(
  c: Http,
  services: Services,
  perMinute: number,
  schema: Schema,
  work: (
    services: Services,
    user: UserRow,
    form: v.InferOutput<Schema>,
    of: { key: string; id: string },
  ) => PaidOutcome,
): Response {
  if (services.generations.isDraining) throw restarting();
  const user = userOf(c);
  const id = c.req.param('id') ?? '';
  const route = c.req.path.replace(id, ':id');
  services.limits.consume(`${route}:${user.id}`, perMinute);
  const input = readInput(c);
  const form = validate(schema, input);
  const { price } = validate(shownPriceForm, input);
  const key = requiredKey(c, input);
  return runOnce(c, services, key, form, () => {
    recordUse(services, user.id);
    assertMayUse(findUser(services, user.id), services.clock());
    const { cost, ...outcome } = work(services, user, form, { key, id });
    if (cost > (price ?? cost)) throw priceChanged(cost, presentPrices(services.env.prices));
    return outcome;
  });
}

const listQuery = v.object({
  q: v.optional(text(0, rules.searchCharacters), ''),
  story_id: v.optional(id),
  cursor: v.optional(v.string()),
});

const changeForm = v.object({
  read_version: v.nullish(wholeNumber(0)),
  pinned: v.nullish(v.boolean()),
  shelved: v.nullish(v.boolean()),
});

export function conversationRoutes(services: Services): Hono<AppEnv> {
  const present = (rows: ConversationRow[]) => rows.map((row) => presentConversation(services, row));
  return new Hono<AppEnv>()
    .get('/', (c) => {
      const user = userOf(c);
      const { q, story_id, cursor } = validate(listQuery, c.req.query());
      const order = ['updated_at', 'id'] as const;
      if (q) return c.json(readPage(c, services, searchedConversations(user.id), order, present, isHit(services, q)));
      // all runs of the story, or, without a story, all conversations that are not pinned
      const own = conversationsOf(user.id);
      const selection = story_id ? own.where('story_id', '=', story_id) : own.where('pinned_at', 'is', null);
      const page = readPage(c, services, selection, order, present);
      // the first page starts with all pinned conversations
      const pinned = story_id || readCursor(cursor) ? [] : present(pinnedConversations(services, user.id));
      return c.json({ ...page, data: [...pinned, ...page.data] });
    })
    .put('/:id', (c) => {
      const user = writingUser(c, services);
      const form = validate(changeForm, readInput(c));
      const row = findConversation(services, user.id, c.req.param('id'));
      return c.json({ data: changeConversation(services, row, form) });
    })
    .post('/:id/restart', (c) => {
      const user = writingUser(c, services);
      const key = idempotencyKey(c, readInput(c));
      return runOnce(c, services, key, {}, () =>
        restartConversation(services, findConversation(services, user.id, c.req.param('id'))),
      );
    })
    .delete('/:id', (c) => {
      const user = writingUser(c, services);
      deleteConversation(services, findConversation(services, user.id, c.req.param('id')));
      return c.body(null, 204);
    });
}

const pinnedConversations = ({ db }: Services, userId: string): ConversationRow[] =>
  db.all(conversationsOf(userId).where('pinned_at', 'is not', null).orderBy('pinned_at', 'desc'));

/** Selects conversations, each with the text of its last message. */
const searchedConversations = (userId: string) =>
  query
    .selectFrom('conversations')
    .leftJoin('messages', (join) =>
      join.onRef('conversation_id', '=', 'conversations.id').onRef('seq', '=', 'last_seq'),
    )
    .selectAll('conversations')
    .select('messages.body')
    .where('conversations.user_id', '=', userId);

/** Returns whether the title, the characters or the last message of a conversation contain the words. */
function isHit(services: Services, words: string) {
  const searchedWords = normalizeForSearch(words);
  return ({ id, story_id, body }: ConversationRow & { body: string | null }) => {
    const { title, characters } = findStory(services, story_id);
    const last = body === '' ? lastMessageWithText(services, id)?.body : body;
    const texts = [title, ...characters.map(({ name }) => name), excerpt(last ?? '')];
    return texts.some((searchText) => normalizeForSearch(searchText).includes(searchedWords));
  };
}

/** Marks a conversation as read, pins or shelves it, and notifies the reader's devices. Throws 422 for too many pins. */
function changeConversation(services: Services, row: ConversationRow, form: v.InferOutput<typeof changeForm>) {
  const { db, clock } = services;
  return db.transaction(() => {
    if (typeof form.read_version === 'number') {
      markAsRead(services, row, form.read_version);
      updateUnreadConversations(services, row.user_id);
    }
    if (typeof form.pinned === 'boolean' && form.pinned !== (row.pinned_at !== null)) {
      if (form.pinned && pinnedConversations(services, row.user_id).length >= rules.pinnedConversations) {
        throw invalid({ pinned: [`最多置顶 ${rules.pinnedConversations} 段对话`] });
      }
      row.pinned_at = form.pinned ? clock() : null;
      db.update('conversations', { id: row.id }, { pinned_at: row.pinned_at });
    }
    if (typeof form.shelved === 'boolean') (form.shelved ? shelve : makeCurrent)(services, row);
    return announceConversation(services, row);
  });
}

/** Deletes all messages, so that the story starts over. Refunds only what is still being written. */
function restartConversation(services: Services, conversation: ConversationRow): StoredSuccess {
  const { db } = services;
  const { id, user_id } = conversation;
  if (conversation.last_seq > 0) {
    stopWriting(services, conversation);
    db.run(query.deleteFrom('suggestions').where('conversation_id', '=', id));
    deleteMessagesAfter(services, conversation, 0);
    conversation.active_message_id = null;
    saveConversation(services, conversation);
    const { version, last_seq } = conversation;
    notifyUser(services, user_id, 'conversation.restarted', { id, conversation_id: id, version, last_seq });
    updateUnreadConversations(services, user_id);
  }
  return { status: 200, body: { data: presentConversation(services, conversation) } };
}

/** Stops and refunds a running reply and pending suggestions, before the conversation's messages are deleted. */
function stopWriting(services: Services, { id, user_id, active_message_id }: ConversationRow): void {
  const { db, generations } = services;
  const activeReply = active_message_id ? findMessage(services, active_message_id) : undefined;
  if (activeReply) refundReply(services, activeReply);
  const pendingSuggestions = db.all(
    query.selectFrom('suggestions').select('id').where('conversation_id', '=', id).where('status', '=', 'pending'),
  );
  for (const suggestion of pendingSuggestions) refund(services, user_id, 'suggestion', suggestion.id);
  db.afterCommit(() => {
    for (const row of [activeReply, ...pendingSuggestions]) if (row) generations.stop(row.id);
  });
}

/** Deletes a conversation permanently. Stops and refunds what is still being written. */
export function deleteConversation(services: Services, conversation: ConversationRow): void {
  const { db } = services;
  const { id, user_id, version } = conversation;
  db.transaction(() => {
    stopWriting(services, conversation);
    db.run(query.deleteFrom('conversations').where('id', '=', id));
    notifyUser(services, user_id, 'conversation.deleted', { id, conversation_id: id, version: version + 1 });
    updateUnreadConversations(services, user_id);
  });
}
