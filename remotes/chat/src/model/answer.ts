import type { MessageDto, SentDto } from '@liaozhai/shared/contract';
import { believableVersion, findMessage, type Message, type Thread, toMessage } from './thread';

type Answer = Pick<SentDto, 'message'> & Partial<Pick<SentDto, 'reply'>>;

/** Reads the messages of a response. Leaves out a reply that is the message itself, the user's, or in another conversation. */
export function toAnswer(
  thread: Thread,
  conversationId: string,
  { message, reply }: Answer,
): [Message, ...replies: Message[]] {
  const read = (dto: MessageDto) =>
    toMessage({ ...dto, version: believableVersion(thread, dto.version) }, findMessage(thread, dto.id));
  const isReply =
    reply &&
    reply.id !== message.id &&
    reply.role !== 'user' &&
    (reply.conversation_id ?? conversationId) === conversationId;
  return [read(message), ...(isReply ? [read(reply)] : [])];
}
