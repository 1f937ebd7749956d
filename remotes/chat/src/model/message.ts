import type { DeltaEventDto, MessageDto } from '@liaozhai/shared/contract';
import { codePoints, saysNothing, UNREADABLE } from '@liaozhai/shared/format';

type Status = 'pending' | 'streaming' | 'completed' | 'failed' | 'cancelled';

export interface Message {
  id: string;
  conversationId: string;
  /** Orders the conversation from 1, without gaps; 0 if the server's value could not be parsed. */
  seq: number;
  /** The conversation's version at which this message last changed. */
  version: number;
  /** Increases with each continuation; deltas belong to one revision. */
  revision: number;
  clientId: string | null;
  role: 'user' | 'assistant' | 'system';
  body: string;
  /** Code points of `body`. */
  length: number;
  status: Status;
  errorText: string;
  /** The shown variant of a reply, from 1; `variants` is their number. */
  variant: number;
  variants: number;
  createdAt: string;
  updatedAt: string;
}

/** The user's line that is being edited, as it was when editing began. */
export type EditedLine = Pick<Message, 'id' | 'conversationId' | 'seq' | 'revision'>;

const roles = new Set(['user', 'assistant', 'system']);
const statuses = new Set(['pending', 'streaming', 'completed', 'failed', 'cancelled']);

/** `known` is the message as it was: its values stand in for fields that a partial event or response does not name. */
export function toMessage(dto: MessageDto, known?: Message): Message {
  const status = statuses.has(dto.status ?? '') ? (dto.status as Status) : 'completed';
  const revision = dto.revision ?? known?.revision ?? 1;
  const variants = dto.variants || known?.variants || 1;
  const variant = (known && hasOddVariant(dto, known) ? known.variant : (dto.variant ?? known?.variant)) ?? 1;
  const knownBody = known?.revision === revision && known.variant === variant ? known.body : '';
  const body = shownBody(dto.body ?? knownBody, status);
  return {
    id: String(dto.id),
    conversationId: String(dto.conversation_id ?? known?.conversationId ?? ''),
    seq: dto.seq ?? known?.seq ?? 0,
    version: dto.version ?? known?.version ?? 0,
    revision,
    clientId: dto.client_id || known?.clientId || null,
    role: roles.has(dto.role ?? '') ? (dto.role as Message['role']) : (known?.role ?? 'assistant'),
    body,
    length: codePoints(body),
    status,
    errorText: dto.error?.message ?? '',
    variant: Math.min(Math.max(variant, 1), variants),
    variants,
    createdAt: dto.created_at ?? known?.createdAt ?? '',
    updatedAt: dto.updated_at ?? dto.created_at ?? known?.updatedAt ?? '',
  };
}

/** Whether the named variant is not one of the message's variants. A server may number a single one 0. */
export function hasOddVariant({ variant, variants }: MessageDto, known: Message | undefined): boolean {
  const count = Math.max(variants ?? 1, known?.variants ?? 1);
  return typeof variant === 'number' && (variant > count || (variant < 1 && count > 1));
}

/** Replaces a body without visible characters. That of a running reply stays, since offsets refer to it. */
const shownBody = (body: string, status: Status): string => {
  if (status === 'pending' || status === 'streaming' || !saysNothing(body)) return body;
  return body && status === 'completed' ? UNREADABLE : '';
};

export const isRunning = (message: Message): boolean => message.status === 'pending' || message.status === 'streaming';

/** The text may end inside a markup span: more will follow, or it was cut off. */
export const isUnfinished = (message: Message): boolean => message.status !== 'completed';

/** Permanent key of a row: a line keeps its client id from the first paint on. Some servers give that id to the reply, too. */
export const keyOf = ({ role, clientId, id }: Message): string => (role === 'user' && clientId) || id;

/** Returns the later of two states of a message: by version, then revision, then text length. */
export function laterVersion(local: Message, incoming: Message): Message {
  // an edit deletes the messages after the line, and new ones reuse their seq
  if (incoming.id !== local.id) return incoming.version > local.version ? incoming : local;
  if (incoming.version !== local.version)
    return incoming.version > local.version ? withGrownBody(local, incoming) : local;
  if (incoming.revision !== local.revision) return incoming.revision > local.revision ? incoming : local;
  // without versions only this says that a reply has ended
  if (isRunning(incoming) !== isRunning(local)) return isRunning(local) ? incoming : local;
  return incoming.length > local.length || (local.status === 'pending' && incoming.status === 'streaming')
    ? incoming
    : local;
}

/** Deltas do not raise the version, so a newer running state may contain less text than the deltas have already added. */
function withGrownBody(local: Message, incoming: Message): Message {
  const isBehind = isRunning(incoming) && incoming.revision === local.revision && incoming.length < local.length;
  return isBehind ? { ...incoming, body: local.body, length: local.length } : incoming;
}

/** Appends a piece of text: `gap` if an earlier piece is missing, the same message if the piece is already included. */
export function appendDelta(message: Message, delta: DeltaEventDto): Message | 'gap' {
  if (delta.revision > message.revision) return 'gap';
  if (delta.revision < message.revision || !isRunning(message)) return message;
  const length = codePoints(delta.text);
  if (delta.offset + length <= message.length) return message;
  if (delta.offset !== message.length) return 'gap';
  return { ...message, body: message.body + delta.text, length: message.length + length, status: 'streaming' };
}
