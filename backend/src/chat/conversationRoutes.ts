import { Hono } from 'hono';
import { sql } from 'kysely';
import { query } from '../db/database.ts';
import type { ConversationRow } from '../db/schema.ts';
import { cursorPage, readCursor } from '../http/cursor.ts';
import { type AppEnv, userOf } from '../http/http.ts';
import { idempotencyKey, type Outcome, once } from '../http/idempotency.ts';
import { readInput } from '../http/input.ts';
import { tell } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { refund } from '../wallet.ts';
import { cutAfter, findConversation, presentConversation, saveConversation } from './conversation.ts';
import { findMessage, refundReply } from './reply.ts';

/** Past conversations. */
export function conversationRoutes(services: Services): Hono<AppEnv> {
  const { limits, env } = services;
  return new Hono<AppEnv>()
    .get('/', (c) => {
      const rows = pageOfConversations(services, userOf(c).id, c.req.query('cursor'));
      const present = (row: ConversationRow) => presentConversation(services, row);
      return c.json(cursorPage(rows, c.req.path, ({ updated_at, id }) => ({ time: updated_at, id }), present));
    })
    .post('/:id/restart', async (c) => {
      const user = userOf(c);
      limits.take(`write:${user.id}`, env.RATE_LIMIT_WRITES);
      const key = idempotencyKey(c, await readInput(c));
      return once(c, services, key, {}, () =>
        restartConversation(services, findConversation(services, user.id, c.req.param('id'))),
      );
    })
    .delete('/:id', (c) => {
      const user = userOf(c);
      limits.take(`write:${user.id}`, env.RATE_LIMIT_WRITES);
      deleteConversation(services, findConversation(services, user.id, c.req.param('id')));
      return c.body(null, 204);
    });
}

function pageOfConversations({ db }: Services, userId: string, cursor: string | undefined): ConversationRow[] {
  const after = readCursor(cursor);
  let page = query
    .selectFrom('conversations')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(rules.pageSize + 1);
  if (after) page = page.where(sql<boolean>`(updated_at, id) < (${after.time}, ${after.id})`);
  return db.all(page);
}

/** Takes away all that was said, so that the story begins anew; only what is still being written is paid back. */
function restartConversation(services: Services, conversation: ConversationRow): Outcome {
  const { db } = services;
  const { id, user_id } = conversation;
  if (conversation.last_seq > 0) {
    stopWriting(services, conversation);
    db.run(query.deleteFrom('suggestions').where('conversation_id', '=', id));
    cutAfter(services, conversation, 0);
    conversation.active_message_id = null;
    saveConversation(services, conversation);
    const { version, last_seq } = conversation;
    tell(services, user_id, 'conversation.restarted', { id, conversation_id: id, version, last_seq });
  }
  return { status: 200, body: { data: presentConversation(services, conversation) } };
}

/** Stops what is being written in a conversation whose messages are about to go, and pays it back. */
function stopWriting(services: Services, { id, user_id, active_message_id }: ConversationRow): void {
  const { db, runs } = services;
  const active = active_message_id ? findMessage(services, active_message_id) : undefined;
  if (active) refundReply(services, active);
  const waiting = db.all(
    query.selectFrom('suggestions').select('id').where('conversation_id', '=', id).where('status', '=', 'pending'),
  );
  for (const suggestion of waiting) refund(services, user_id, 'suggestion', suggestion.id);
  db.afterCommit(() => {
    for (const run of [active, ...waiting]) if (run) runs.stop(run.id);
  });
}

/** Deletes for good; what is still being written stops and is paid back. */
export function deleteConversation(services: Services, conversation: ConversationRow): void {
  const { db } = services;
  const { id, user_id, version } = conversation;
  db.transaction(() => {
    stopWriting(services, conversation);
    db.run(query.deleteFrom('conversations').where('id', '=', id));
    tell(services, user_id, 'conversation.deleted', { id, conversation_id: id, version: version + 1 });
  });
}
