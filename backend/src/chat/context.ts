import { countFitting, WINDOW_LINES } from '../ai/prompts.ts';
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
function contextOf(services: Services, message: MessageRow): StoryContext {
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

/** Selects the texts that a retold reply has shown, the latest first. */
export const variantsOf = (messageId: string) =>
  query.selectFrom('message_variants').selectAll().where('message_id', '=', messageId).orderBy('revision', 'desc');

function formerTexts({ db }: Services, messageId: string): string[] {
  const rows = db.all(variantsOf(messageId).limit(MAX_FORMER_TEXTS));
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

function summaryOf({ db }: Services, conversationId: string): { summary: string; summary_seq: number } {
  return db.find('conversations', { id: conversationId }) ?? { summary: '', summary_seq: 0 };
}

const toLine = ({ role, body }: Pick<MessageRow, 'role' | 'body'>): Line => ({
  role: role === 'user' ? 'user' : 'assistant',
  text: body,
});

// A model reads only the latest lines. It summarizes older ones. The summary is stored with the conversation and costs
// the reader nothing.

/** Shares of the window at which a summary starts and that it leaves. Many lines at a time keep summaries rare. */
const FULL_SHARE = 0.75;
const REMAINING_SHARE = 0.5;

/** Summarizes older lines before they leave the window. A failed summary is retried after the next reply. */
export function summarizeIfNeeded(services: Services, reply: MessageRow): void {
  const { storyteller, generations, env } = services;
  const runId = `summary:${reply.conversation_id}`;
  if (!storyteller.summarize || generations.has(runId) || generations.isDraining) return;
  const { summary_seq } = summaryOf(services, reply.conversation_id);
  const rows = rowsAfter(services, reply.conversation_id, summary_seq);
  const lines = rows.map(toLine);
  const windowShare = (part: number) => ({ lines: part * WINDOW_LINES, characters: part * env.AI_HISTORY_CHARACTERS });
  if (countFitting(lines, windowShare(FULL_SHARE)) === lines.length) return;
  const olderRows = rows.slice(0, rows.length - countFitting(lines, windowShare(REMAINING_SHARE)));
  if (olderRows.length > 0) generations.start(runId, (signal) => writeSummary(services, reply, olderRows, signal));
}

type SummaryRow = Pick<MessageRow, 'seq' | 'role' | 'body'>;

/** More rows than usually wait, unless summaries have failed for long. */
const SUMMARIZED_ROWS = 100;

function rowsAfter({ db }: Services, conversationId: string, seq: number): SummaryRow[] {
  const messages = query
    .selectFrom('messages')
    .select(['seq', 'role', 'body'])
    .where('conversation_id', '=', conversationId);
  return db.all(messages.where('seq', '>', seq).where('body', '!=', '').orderBy('seq').limit(SUMMARIZED_ROWS));
}

async function writeSummary(
  services: Services,
  reply: MessageRow,
  olderRows: SummaryRow[],
  signal: AbortSignal,
): Promise<void> {
  const { db, storyteller } = services;
  const { conversation_id } = reply;
  const upTo = olderRows.at(-1)?.seq ?? 0;
  const formerSummary = summaryOf(services, conversation_id);
  let summary: string | undefined;
  try {
    summary = await storyteller.summarize?.(contextOf(services, reply), olderRows.map(toLine), { signal });
  } catch {
    // logged by the storyteller's watch
  }
  if (!summary) return;
  const changes = { summary, summary_seq: upTo };
  db.transaction(() => {
    // after an edit or a restart the summary would contain deleted messages
    const isSame = (row: SummaryRow | undefined, index: number) =>
      row?.seq === olderRows[index]?.seq && row?.body === olderRows[index]?.body;
    const currentRows = rowsAfter(services, conversation_id, formerSummary.summary_seq).slice(0, olderRows.length);
    if (currentRows.length < olderRows.length || !currentRows.every(isSame)) return;
    db.update('conversations', { id: conversation_id, summary_seq: formerSummary.summary_seq }, changes);
  });
}
