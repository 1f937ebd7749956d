import * as v from 'valibot';
import { count, flag, id, optional } from './decode.ts';
import { conversationSchema, messageEntries, messageSchema } from './wire.ts';

/** Events of the user's channel; the message is under `message`, or flat. */
export const messageEventSchema = v.object({
  ...optional({ id }),
  ...messageEntries,
  ...optional({
    message: messageSchema,
    /** All later messages were removed. */
    last_seq: count,
    truncated: flag,
  }),
});
export type MessageEventDto = v.InferOutput<typeof messageEventSchema>;

/** `message.delta`; `offset` in code points. */
export const deltaEventSchema = v.object({
  message_id: id,
  conversation_id: id,
  revision: count,
  offset: count,
  text: v.string(),
});
export type DeltaEventDto = v.InferOutput<typeof deltaEventSchema>;

/** `conversation.deleted`, `conversation.restarted`, `suggestion.ready` */
export const idEventSchema = v.object({ id, ...optional({ conversation_id: id, version: count }) });

/** `conversation.updated`: read or pinned on one of the user's devices. */
export const conversationEventSchema = v.object({ conversation: conversationSchema });

/** For events whose payload is not read. */
export const anyPayload = v.unknown();
