import { sql } from 'kysely';
import * as v from 'valibot';
import { isoTime } from '../clock.ts';
import { query } from '../db/database.ts';
import type { ConversationRow, MessageRow, UserRow } from '../db/schema.ts';
import { invalid } from '../http/http.ts';
import { id, text, wholeNumber } from '../http/input.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findStory, normalizeForSearch } from '../stories.ts';
import { conversationWith, findConversation, messagesOf } from './conversation.ts';
import { presentMessage } from './presentMessage.ts';

export const latestQuery = v.object({
  conversation_id: v.optional(v.string()),
  story_id: v.optional(v.string()),
  after: v.optional(wholeNumber(0)),
  before: v.optional(wholeNumber(0)),
  limit: v.pipe(
    v.optional(wholeNumber(1), rules.latestLimit.fallback),
    v.transform((limit) => Math.min(limit, rules.latestLimit.max)),
  ),
});

type LatestQuery = v.InferOutput<typeof latestQuery>;

/**
 * Returns the newest messages, those before a `seq`, or, for synchronization, those changed after a `version`.
 * The caller is complete up to `meta.version`, which is below the conversation's version while `has_more`.
 */
export function latestMessages(services: Services, user: UserRow, request: LatestQuery) {
  if (request.after !== undefined && request.before !== undefined)
    throw invalid({ after: ['after 与 before 只能用一个'] });
  const conversation = request.conversation_id
    ? findConversation(services, user.id, request.conversation_id)
    : conversationWith(services, user.id, findStory(services, request.story_id ?? '').id);
  const page = conversation && (request.after === undefined ? pageBefore : pageAfter)(services, conversation, request);
  const { rows, hasMore, version } = page ?? { rows: [], hasMore: false, version: 0 };
  return {
    data: rows.sort((left, right) => left.seq - right.seq).map(presentMessage),
    meta: {
      conversation_id: conversation?.id ?? null,
      version,
      last_seq: conversation?.last_seq ?? 0,
      has_more: hasMore,
      active_message_id: conversation?.active_message_id ?? null,
      read_version: conversation?.read_version ?? 0,
    },
  };
}

function pageBefore({ db }: Services, { id, version }: ConversationRow, { before, limit }: LatestQuery) {
  const oneMore = limit + 1;
  const newest = messagesOf(id).orderBy('seq', 'desc').limit(oneMore);
  const rows = db.all(before === undefined ? newest : newest.where('seq', '<', before));
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit, version };
}

/** Always includes the running message, since its text grows without a new version. */
function pageAfter({ db }: Services, conversation: ConversationRow, { after = 0, limit }: LatestQuery) {
  const messages = messagesOf(conversation.id);
  const oneMore = limit + 1;
  const changedRows = db.all(messages.where('version', '>', after).orderBy('version').limit(oneMore));
  const rows = changedRows.slice(0, limit);
  const hasMore = changedRows.length > limit;
  const version = hasMore ? (rows.at(-1)?.version ?? after) : conversation.version;
  const activeId = conversation.active_message_id;
  if (activeId && !rows.some((row) => row.id === activeId)) rows.push(...db.all(messages.where('id', '=', activeId)));
  return { rows, hasMore, version };
}

export const findQuery = v.object({ conversation_id: id, q: text(1, rules.searchCharacters) });
export const daysQuery = v.object({ conversation_id: id });

const placeColumns = ['id', 'conversation_id', 'seq', 'created_at'] as const;

const presentPlace = ({ created_at, ...row }: Pick<MessageRow, (typeof placeColumns)[number]>) => ({
  ...row,
  created_at: isoTime(created_at),
});

/** Characters without width, case or accent variants, so that the database can search for them. */
const plainHanPattern = /^[\u4e00-\u9fff]+$/;

/**
 * Finds the messages that contain the words, regardless of marks, width, case and accents, ordered by seq.
 * Returns at most the latest `rules.foundMessages`; `meta.total` is the number of all.
 */
export function findMessages(services: Services, user: UserRow, search: v.InferOutput<typeof findQuery>) {
  const conversation = findConversation(services, user.id, search.conversation_id);
  const messages = query.selectFrom('messages').where('conversation_id', '=', conversation.id);
  const candidates = plainHanPattern.test(search.q)
    ? messages.where(sql<boolean>`replace(body, '*', '') like ${`%${search.q}%`}`)
    : messages;
  const words = normalizeForSearch(search.q);
  const hits = services.db
    .all(candidates.select([...placeColumns, 'body']).orderBy('seq', 'desc'))
    .filter(({ body }) => normalizeForSearch(body.replaceAll('*', '')).includes(words))
    .map(({ body: _, ...row }) => presentPlace(row));
  return { data: hits.slice(0, rules.foundMessages).reverse(), meta: { total: hits.length } };
}

/** Returns the first message of each day in Shanghai, the latest day first. */
export function daysOf(services: Services, user: UserRow, request: v.InferOutput<typeof daysQuery>) {
  const conversation = findConversation(services, user.id, request.conversation_id);
  const messages = query.selectFrom('messages').where('conversation_id', '=', conversation.id);
  // UTC+8 in ms, then days: Shanghai has no daylight saving time
  const firstSeqs = messages
    .select((each) => each.fn.min<number>('seq').as('first'))
    .groupBy(sql`(created_at + 28800000) / 86400000`);
  const rows = services.db.all(messages.select(placeColumns).where('seq', 'in', firstSeqs).orderBy('seq', 'desc'));
  return { data: rows.map(presentPlace) };
}
