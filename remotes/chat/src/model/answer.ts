import type { MessageDto, SentDto } from '@liaozhai/shared/contract';
import { believableVersion, findMessage, type Message, type Thread, toMessage } from './thread';

type Answer = Pick<SentDto, 'message'> & Partial<Pick<SentDto, 'reply'>>;

/** Reads the messages of a response. */
export function toAnswer(
  thread: Thread,
  conversationId: string,
  { message, reply }: Answer,
): [Message, ...replies: Message[]] {
  const read = (dto: MessageDto) =>
    toMessage({ ...dto, version: believableVersion(thread, dto.version) }, findMessage(thread, dto.id));
  return [read(message), ...(reply ? [read(reply)] : [])];
}
