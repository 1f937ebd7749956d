import { fitting, WINDOW_LINES } from '../ai/prompts.ts';
import { query } from '../db/database.ts';
import type { MessageRow } from '../db/schema.ts';
import type { Services } from '../services.ts';
import { contextOf, summaryOf, toLine } from './context.ts';

// A model reads only the latest lines. It summarizes older ones. The summary is stored with the conversation and costs
// the reader nothing.

/** Shares of the window at which a summary starts and that it leaves. Many lines at a time keep summaries rare. */
const FULL_SHARE = 0.75;
const KEPT_SHARE = 0.5;

/** Summarizes older lines before they leave the window. A failed summary is retried after the next reply. */
export function summarizeIfNeeded(services: Services, reply: MessageRow): void {
  const { storyteller, runs, env } = services;
  const run = `summary:${reply.conversation_id}`;
  if (!storyteller.summarize || runs.has(run) || runs.isDraining) return;
  const { summary_seq } = summaryOf(services, reply.conversation_id);
  const rows = rowsAfter(services, reply.conversation_id, summary_seq);
  const lines = rows.map(toLine);
  const share = (part: number) => ({ lines: part * WINDOW_LINES, characters: part * env.AI_HISTORY_CHARACTERS });
  if (fitting(lines, share(FULL_SHARE)) === lines.length) return;
  const older = rows.slice(0, rows.length - fitting(lines, share(KEPT_SHARE)));
  if (older.length > 0) runs.start(run, (signal) => writeSummary(services, reply, older, signal));
}

type SummaryRow = Pick<MessageRow, 'seq' | 'role' | 'body'>;

/** More rows than usually wait, unless summaries have failed for long. */
const SUMMARIZED_ROWS = 100;

function rowsAfter({ db }: Services, conversationId: string, seq: number): SummaryRow[] {
  const said = query
    .selectFrom('messages')
    .select(['seq', 'role', 'body'])
    .where('conversation_id', '=', conversationId);
  return db.all(said.where('seq', '>', seq).where('body', '!=', '').orderBy('seq').limit(SUMMARIZED_ROWS));
}

async function writeSummary(
  services: Services,
  reply: MessageRow,
  older: SummaryRow[],
  signal: AbortSignal,
): Promise<void> {
  const { db, storyteller } = services;
  const { conversation_id } = reply;
  const upTo = older.at(-1)?.seq ?? 0;
  const former = summaryOf(services, conversation_id);
  let summary: string | undefined;
  try {
    summary = await storyteller.summarize?.(contextOf(services, reply), older.map(toLine), { signal });
  } catch {
    // logged by the storyteller's watch
  }
  if (!summary) return;
  const changes = { summary, summary_seq: upTo };
  db.transaction(() => {
    // after an edit or a restart the summary would contain deleted messages
    const isSame = (row: SummaryRow | undefined, index: number) =>
      row?.seq === older[index]?.seq && row?.body === older[index]?.body;
    const now = rowsAfter(services, conversation_id, former.summary_seq).slice(0, older.length);
    if (now.length < older.length || !now.every(isSame)) return;
    const conversation = query.updateTable('conversations').set(changes).where('id', '=', conversation_id);
    db.run(conversation.where('summary_seq', '=', former.summary_seq));
  });
}
