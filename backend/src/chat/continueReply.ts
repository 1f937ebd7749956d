import { z } from 'zod';
import { query } from '../db/database.ts';
import type { MessageRow, UserRow } from '../db/schema.ts';
import { invalid } from '../http/httpError.ts';
import type { Outcome } from '../http/idempotency.ts';
import { codePoints, id } from '../http/input.ts';
import { announceMessage } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findStory } from '../stories.ts';
import { book } from '../wallet.ts';
import { assertIdle, findConversation, lastMessage, saveConversation } from './conversation.ts';
import { presentMessage } from './message.ts';
import { startReply } from './reply.ts';

export const continueForm = z.object({ conversation_id: id, message_id: id.nullish() });

/** Books the price and lets the last reply go on under a new revision; call it inside a transaction. */
export function continueReply(services: Services, user: UserRow, form: z.infer<typeof continueForm>): Outcome {
  const conversation = findConversation(services, user.id, form.conversation_id);
  assertIdle(conversation);
  const last = continuable(lastMessage(services, conversation.id), form.message_id);
  const cost = rules.continuePrice;
  const revision = last.revision + 1;
  const balance = book(services, {
    userId: user.id,
    type: 'continue',
    amount: -cost,
    description: `续写《${findStory(services, conversation.story_id).title}》`,
    ref: { type: 'message', id: last.id },
    key: `${last.id}:${revision}`,
  });
  conversation.version += 1;
  conversation.active_message_id = last.id;
  saveConversation(services, conversation);
  const row: MessageRow = {
    ...last,
    revision,
    version: conversation.version,
    status: 'pending',
    error_code: null,
    error_message: null,
    cost: last.cost + cost,
    updated_at: services.clock(),
  };
  services.db.run(query.updateTable('messages').set(row).where('id', '=', row.id));
  announceMessage(services, 'message.created', row);
  startReply(services, row.id);
  return { status: 202, body: { message: presentMessage(row), balance } };
}

/** Only the last message, and only a reply that has room left, can go on; throws 422. */
function continuable(last: MessageRow | undefined, wantedId: string | null | undefined): MessageRow {
  if (last?.role !== 'assistant') throw invalid({ message_id: ['还没有可以续写的回复'] });
  if (wantedId && wantedId !== last.id) throw invalid({ message_id: ['只能续写最后一条回复'] });
  if (codePoints(last.body) >= rules.replyCharacters) throw invalid({ message_id: ['这一段已经足够长，请另起一句'] });
  return last;
}
