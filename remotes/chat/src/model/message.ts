import type { DeltaEventDto, MessageDto } from '@liaozhai/shared/contract';
import { codePoints } from '@liaozhai/shared/format';

export type Status = 'pending' | 'streaming' | 'completed' | 'failed' | 'cancelled';

export interface Message {
  id: string;
  conversationId: string;
  /** Orders the conversation, without gaps. */
  seq: number;
  /** The conversation's version at which this message last changed. */
  version: number;
  /** Grows with each continuation; deltas belong to one revision. */
  revision: number;
  clientId: string | null;
  role: 'user' | 'assistant' | 'system';
  body: string;
  /** Code points of `body`. */
  length: number;
  status: Status;
  errorText: string;
  cost: number;
  createdAt: string;
  updatedAt: string;
}

const roles = new Set(['user', 'assistant', 'system']);
const statuses = new Set(['pending', 'streaming', 'completed', 'failed', 'cancelled']);

export function toMessage(dto: MessageDto): Message {
  const body = dto.body ?? '';
  return {
    id: String(dto.id),
    conversationId: String(dto.conversation_id ?? ''),
    seq: dto.seq ?? 0,
    version: dto.version ?? 0,
    revision: dto.revision ?? 1,
    clientId: dto.client_id ?? null,
    role: roles.has(dto.role ?? '') ? (dto.role as Message['role']) : 'assistant',
    body,
    length: codePoints(body),
    status: statuses.has(dto.status ?? '') ? (dto.status as Status) : 'completed',
    errorText: dto.error?.message ?? '',
    cost: dto.cost ?? 0,
    createdAt: dto.created_at ?? '',
    updatedAt: dto.updated_at ?? dto.created_at ?? '',
  };
}

export const isRunning = (message: Message): boolean => message.status === 'pending' || message.status === 'streaming';

/** What a row of the log is known by for ever: a line keeps its client id from the first paint on. */
export const keyOf = (message: Message): string => message.clientId ?? message.id;

/** Of two states of one message the later: by version, then revision, then how far its text has come. */
export function laterOf(local: Message, incoming: Message): Message {
  if (incoming.version !== local.version)
    return incoming.version > local.version ? withGrownBody(local, incoming) : local;
  if (incoming.revision !== local.revision) return incoming.revision > local.revision ? incoming : local;
  return incoming.length > local.length || (local.status === 'pending' && incoming.status === 'streaming')
    ? incoming
    : local;
}

/** Deltas raise no version, so a newer running state may carry less text than deltas have already brought. */
function withGrownBody(local: Message, incoming: Message): Message {
  const behind = isRunning(incoming) && incoming.revision === local.revision && incoming.length < local.length;
  return behind ? { ...incoming, body: local.body, length: local.length } : incoming;
}

export interface Delta {
  messageId: string;
  conversationId: string;
  revision: number;
  /** Code points already written before `text`. */
  offset: number;
  text: string;
}

export const toDelta = (dto: DeltaEventDto): Delta => ({
  messageId: String(dto.message_id),
  conversationId: String(dto.conversation_id),
  revision: dto.revision,
  offset: dto.offset,
  text: dto.text,
});

/** The message with the next piece of its text; `gap` if a piece before it is missing; itself if the piece is known. */
export function withDelta(message: Message, delta: Delta): Message | 'gap' {
  if (delta.revision > message.revision) return 'gap';
  if (delta.revision < message.revision || !isRunning(message)) return message;
  const length = codePoints(delta.text);
  if (delta.offset + length <= message.length) return message;
  if (delta.offset !== message.length) return 'gap';
  return { ...message, body: message.body + delta.text, length: message.length + length, status: 'streaming' };
}
