import type { Line, StoryContext } from '../ai/storyteller.ts';
import { query } from '../db/database.ts';
import type { MessageRow } from '../db/schema.ts';
import type { Services } from '../services.ts';
import { findStory } from '../stories.ts';
import { findUser } from '../users/user.ts';

/** Long enough for a storyteller not to repeat itself soon; a model takes fewer. */
const historyMessages = 64;
const offeredSuggestions = 8;

/** What the storyteller must know to write `reply`, or to go on with it when it is a continuation. */
export function contextOf(services: Services, reply: MessageRow): StoryContext {
  const history = linesUpTo(services, reply.conversation_id, reply.seq);
  return {
    ...frameOf(services, reply),
    history,
    offered: [],
    retold: reply.body === '' ? formerTexts(services, reply.id) : [],
    continuing: history.at(-1)?.role === 'assistant',
    turn: Math.ceil(reply.seq / 2),
    seed: `${reply.story_id}|${reply.seq}|${reply.revision}`,
  };
}

/** What the storyteller must know to suggest the reader's next line. */
export function suggestionContext(services: Services, last: MessageRow): StoryContext {
  return {
    ...frameOf(services, last),
    history: linesUpTo(services, last.conversation_id, last.seq),
    offered: offeredLately(services, last.conversation_id),
    retold: [],
    continuing: false,
    turn: Math.ceil(last.seq / 2),
    seed: `${last.story_id}|${last.seq}|${last.revision}|suggestion`,
  };
}

function frameOf(services: Services, message: MessageRow): Pick<StoryContext, 'story' | 'reader'> {
  const { name, persona } = findUser(services, message.user_id);
  return { story: findStory(services, message.story_id), reader: { name, persona } };
}

function linesUpTo({ db }: Services, conversationId: string, seq: number): Line[] {
  const rows = db.all(
    query
      .selectFrom('messages')
      .select(['role', 'body'])
      .where('conversation_id', '=', conversationId)
      .where('seq', '<=', seq)
      .where('body', '!=', '')
      .orderBy('seq', 'desc')
      .limit(historyMessages),
  );
  return rows.reverse().map(({ role, body }) => ({ role: role === 'user' ? 'user' : 'assistant', text: body }));
}

/** The latest are enough for a storyteller not to repeat them. */
const retoldTexts = 3;

function formerTexts({ db }: Services, messageId: string): string[] {
  const rows = db.all(
    query
      .selectFrom('message_variants')
      .select('body')
      .where('message_id', '=', messageId)
      .orderBy('revision', 'desc')
      .limit(retoldTexts),
  );
  return rows.reverse().map(({ body }) => body);
}

function offeredLately({ db }: Services, conversationId: string): string[] {
  const rows = db.all(
    query
      .selectFrom('suggestions')
      .select('items')
      .where('conversation_id', '=', conversationId)
      .orderBy('created_at', 'desc')
      .limit(offeredSuggestions),
  );
  return rows.reverse().flatMap(({ items }) => JSON.parse(items) as string[]);
}
