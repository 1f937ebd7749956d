import type { Line, StoryContext } from '../ai/storyteller.ts';
import { query } from '../db/database.ts';
import type { MessageRow } from '../db/schema.ts';
import type { Services } from '../services.ts';
import { findStory } from '../stories.ts';
import { findUser } from '../users/user.ts';
import { progressAfter, progressBefore } from './progress.ts';

/** More messages than a model receives. */
const MAX_HISTORY_MESSAGES = 64;
const MAX_FORMER_SUGGESTIONS = 8;

export function replyContext(services: Services, reply: MessageRow): StoryContext {
  const context = contextOf(services, reply);
  return {
    ...context,
    formerTexts: reply.body === '' ? formerTexts(services, reply.id) : [],
    isContinuation: context.history.at(-1)?.role === 'assistant',
    progress: progressBefore(services, reply),
    variantIndex: reply.variant - 1,
    seed: `${reply.story_id}|${reply.seq}|${reply.revision}`,
  };
}

/** Returns the context for suggesting the reader's next line. */
export function suggestionContext(services: Services, last: MessageRow): StoryContext {
  return {
    ...contextOf(services, last),
    formerSuggestions: formerSuggestions(services, last.conversation_id),
    seed: `${last.story_id}|${last.seq}|${last.revision}|suggestion`,
  };
}

/** Returns the context of the conversation up to and including a message. */
export function contextOf(services: Services, message: MessageRow): StoryContext {
  const { name, persona } = findUser(services, message.user_id);
  const { summary, summary_seq } = summaryOf(services, message.conversation_id);
  return {
    story: findStory(services, message.story_id),
    reader: { name, persona },
    summary,
    history: linesBetween(services, message, summary_seq),
    formerTexts: [],
    formerSuggestions: [],
    isContinuation: false,
    progress: progressAfter(services, message).progress,
    variantIndex: 0,
    seed: '',
  };
}

/** Returns the latest lines after the seq `after`, up to and including a message. */
function linesBetween({ db }: Services, { conversation_id, seq }: MessageRow, after: number): Line[] {
  const rows = db.all(
    query
      .selectFrom('messages')
      .select(['role', 'body'])
      .where('conversation_id', '=', conversation_id)
      .where('seq', '>', after)
      .where('seq', '<=', seq)
      .where('body', '!=', '')
      .orderBy('seq', 'desc')
      .limit(MAX_HISTORY_MESSAGES),
  );
  return rows.reverse().map(toLine);
}

/** Number of former texts that the storyteller must not repeat. */
const MAX_FORMER_TEXTS = 3;

function formerTexts({ db }: Services, messageId: string): string[] {
  const rows = db.all(
    query
      .selectFrom('message_variants')
      .select('body')
      .where('message_id', '=', messageId)
      .orderBy('revision', 'desc')
      .limit(MAX_FORMER_TEXTS),
  );
  return rows.reverse().map(({ body }) => body);
}

function formerSuggestions({ db }: Services, conversationId: string): string[] {
  const rows = db.all(
    query
      .selectFrom('suggestions')
      .select('items')
      .where('conversation_id', '=', conversationId)
      .orderBy('created_at', 'desc')
      .limit(MAX_FORMER_SUGGESTIONS),
  );
  return rows.reverse().flatMap(({ items }) => JSON.parse(items) as string[]);
}

export function summaryOf({ db }: Services, conversationId: string): { summary: string; summary_seq: number } {
  return db.find('conversations', { id: conversationId }) ?? { summary: '', summary_seq: 0 };
}

export const toLine = ({ role, body }: Pick<MessageRow, 'role' | 'body'>): Line => ({
  role: role === 'user' ? 'user' : 'assistant',
  text: body,
});
