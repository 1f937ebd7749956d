import type { DeltaEventDto, LatestDto, MessageDto, MessageEventDto } from '@liaozhai/shared/contract';
import { codePoints } from '@liaozhai/shared/format';

/** One story's conversation as far as this device knows it. */
export interface Thread {
  storyId: string;
  /** null until the first message is sent. */
  conversationId: string | null;
  /** By seq, each id once; older ones than the first are on the server if `hasOlder`. */
  messages: Message[];
  /** Every change up to this version is in `messages`. */
  version: number;
  /** Versions merged beyond a missing one. */
  ahead: number[];
  hasOlder: boolean;
  /** Up to which version the reader had seen it when it was loaded, on any device. */
  readVersion?: number | undefined;
  /** The run of the story that was left for this one on this page; its late events do not open it again. */
  leftId?: string | undefined;
}

/** A page of `messages/latest`. */
export interface Page {
  conversationId: string | null;
  messages: Message[];
  version: number;
  /** At that version no message stood after it; undefined where messages stay for ever. */
  lastSeq?: number | undefined;
  hasMore: boolean;
  readVersion?: number | undefined;
  /** None of its rows could be read: it shows no empty chat, and not the beginning of one. */
  isUnread?: boolean;
}

/** What an event or a delta made of the thread; `complete` is false when something before it is missing. */
export interface Applied {
  thread: Thread;
  complete: boolean;
}

export const emptyThread = (storyId: string): Thread => ({
  storyId,
  conversationId: null,
  messages: [],
  version: 0,
  ahead: [],
  hasOlder: false,
});

/** `canShrink`: the server is one that can take messages away, so that its `last_seq` says which are gone. */
export function toPage(body: LatestDto, canShrink = false): Page {
  const messages = body.data.map(toMessage);
  const newest = messages.reduce((highest, message) => Math.max(highest, message.version), 0);
  const id = body.meta?.conversation_id ?? messages[0]?.conversationId;
  const hasMore = body.meta?.has_more ?? false;
  return {
    conversationId: id ? String(id) : null,
    messages,
    version: body.meta?.version ?? newest,
    lastSeq: canShrink ? (body.meta?.last_seq ?? undefined) : undefined,
    hasMore,
    readVersion: body.meta?.read_version ?? undefined,
    isUnread: body.is_unread === true || (hasMore && messages.length === 0),
  };
}

/** The message that is being written, of which there is at most one, and it is among the last. */
export const runningMessage = (thread: Thread): Message | undefined => thread.messages.slice(-3).findLast(isRunning);

/** The version of a finished reply that was unseen when the thread was loaded; undefined without one. */
export function unreadVersion({ messages, readVersion = 0 }: Thread): number | undefined {
  const last = messages.at(-1);
  const hasEnded = last?.role === 'assistant' && (last.status === 'completed' || last.status === 'failed');
  return hasEnded && last.version > readVersion ? last.version : undefined;
}

/** The message with its place: one whose `seq` cannot be read stands where it stood, else at the end. */
export const placedIn = (messages: Message[], message: Message): Message =>
  message.seq > 0
    ? message
    : { ...message, seq: messages.findLast(({ id }) => id === message.id)?.seq ?? (messages.at(-1)?.seq ?? 0) + 1 };

export const findMessage = (thread: Thread, id: string): Message | undefined =>
  thread.messages.findLast((message) => message.id === id);

/** Puts messages into their places, the later state of each; ones older than the loaded window wait for their page. */
function mergeMessages(thread: Thread, incoming: Message[]): Thread {
  const first = thread.messages[0];
  let messages = thread.messages;
  for (const each of incoming) {
    const message = placedIn(messages, each);
    if (thread.hasOlder && first && message.seq < first.seq) continue;
    messages = withMessage(messages, message);
  }
  return messages === thread.messages ? thread : { ...thread, messages };
}

/** The thread as a cut after `seq` leaves it, of messages that are no newer than the cut. */
export function cutAfter(thread: Thread, seq: number, version: number): Thread {
  const messages = thread.messages.filter((message) => message.seq <= seq || message.version > version);
  if (messages.length === thread.messages.length) return thread;
  // changes of messages below the window were left to their page, and are fetched if nothing of the window stays
  const ahead = messages.length === 0 && thread.hasOlder ? [] : thread.ahead;
  return { ...thread, messages, ahead, hasOlder: thread.hasOlder && seq > 0 };
}

/** The thread of a conversation that was restarted at that version. */
export const restarted = (thread: Thread, version: number): Thread =>
  heardVersion({ ...cutAfter(thread, 0, version), hasOlder: false }, version);

function withMessage(messages: Message[], message: Message): Message[] {
  const index = messages.findLastIndex((known) => known.seq <= message.seq);
  const present = messages[index];
  if (present?.seq !== message.seq) return [...messages.slice(0, index + 1), message, ...messages.slice(index + 1)];
  const later = laterOf(present, message);
  return later === present ? messages : withReplaced(messages, index, later);
}

/** Copied in one call: a call per message would cost ten thousand of them for each piece of a reply. */
function withReplaced(messages: Message[], index: number, message: Message): Message[] {
  const copy = messages.slice();
  copy[index] = message;
  return copy;
}

/** What is left when `next` takes the thread's place: nothing, where the reader comes back to what they had left. */
const leaving = ({ conversationId, leftId }: Thread, next: string | null): Pick<Thread, 'leftId'> => ({
  leftId: conversationId ?? (leftId === next ? undefined : leftId),
});

/** The thread as its newest page tells it: joined to what is known, or instead of it if they do not touch. */
export function withNewest(thread: Thread, page: Page): Thread {
  if (page.conversationId === null && thread.conversationId === null) return thread;
  const lastSeq = thread.messages.at(-1)?.seq ?? Number.NEGATIVE_INFINITY;
  const touches = (page.messages[0]?.seq ?? 0) <= lastSeq + 1;
  if (page.conversationId === thread.conversationId && touches) return withChanges(thread, page);
  return {
    ...emptyThread(thread.storyId),
    ...leaving(thread, page.conversationId),
    conversationId: page.conversationId,
    messages: mergeMessages(emptyThread(thread.storyId), page.messages).messages,
    version: page.version,
    hasOlder: page.hasMore,
    readVersion: page.readVersion,
  };
}

/** Puts the page that was asked for `before` the first message in front; a page that adds nothing is the end. */
export function withOlder(thread: Thread, page: Page, before: number): Thread {
  if (page.conversationId !== thread.conversationId || thread.messages[0]?.seq !== before) return thread;
  const count = page.messages.length;
  const older = page.messages
    .map((message, index) => (message.seq > 0 ? message : { ...message, seq: before - count + index }))
    .filter((message) => message.seq < before);
  return {
    ...thread,
    messages: [...older, ...thread.messages],
    // a page read before a change that was already skipped as too old must be caught up from where it was read
    version: Math.min(thread.version, page.version),
    ahead: thread.ahead.filter((each) => each <= page.version),
    hasOlder: page.hasMore && older.length > 0,
  };
}

/** Merges what changed after the version that was asked for. */
export function withChanges(thread: Thread, page: Page): Thread {
  if (page.conversationId !== thread.conversationId) return thread;
  const cut = page.lastSeq === undefined ? thread : cutAfter(thread, page.lastSeq, page.version);
  return completeUpTo(mergeMessages(cut, page.messages), page.version);
}

/** Merges the server's answer to a send or a continuation. */
export function withAnswer(thread: Thread, conversationId: string, messages: Message[]): Thread {
  const isHere = thread.conversationId === conversationId;
  const here = isHere ? thread : { ...emptyThread(thread.storyId), ...leaving(thread, conversationId), conversationId };
  return messages.reduce((known, message) => heardVersion(known, message.version), mergeMessages(here, messages));
}

/** Merges `message.created`, `message.completed` or `message.failed`. */
export function applyEvent(known: Thread, event: MessageEventDto): Applied {
  const dto = event.message ?? event;
  if (!dto.id || !dto.seq) return { thread: known, complete: false };
  const incoming = toMessage({ ...dto, id: dto.id, conversation_id: dto.conversation_id ?? event.conversation_id });
  const thread = withFirstConversation(known, dto, incoming);
  if (incoming.conversationId !== thread.conversationId) return { thread, complete: true };
  const version = event.version ?? dto.version ?? undefined;
  const isCut = event.truncated === true || dto.body === undefined;
  const left = typeof event.last_seq === 'number' ? cutAfter(thread, event.last_seq, version ?? 0) : thread;
  const whole = isCut ? withKnownBody(left, incoming, dto.body_length ?? undefined) : incoming;
  // an event from before may be of a message that is gone since
  if (whole && isStale(left, whole)) return { thread: left, complete: false };
  const merged = whole ? mergeMessages(left, [whole]) : left;
  if (version === undefined) return { thread: merged, complete: false };
  if (!whole) return { thread: left, complete: version <= left.version };
  const isBelowWindow = left !== thread && left.messages.length === 0 && left.hasOlder;
  const applied = heardVersion(merged, version);
  return { thread: applied, complete: applied.version >= version && !isBelowWindow };
}

/** A message that would stand at the end although the thread is complete up to its version. */
const isStale = ({ messages, version }: Thread, message: Message): boolean =>
  message.version > 0 && message.version <= version && message.seq > (messages.at(-1)?.seq ?? 0);

/** The first message of a story opens its conversation, perhaps on another device. */
const withFirstConversation = (thread: Thread, dto: MessageEventDto, incoming: Message): Thread =>
  thread.conversationId === null &&
  String(dto.story_id) === thread.storyId &&
  incoming.conversationId !== '' &&
  incoming.conversationId !== thread.leftId
    ? { ...thread, conversationId: incoming.conversationId }
    : thread;

/** An event too long for its frame comes without the text; often all of it has arrived by deltas. */
function withKnownBody(thread: Thread, incoming: Message, length: number | undefined): Message | undefined {
  const present = findMessage(thread, incoming.id);
  if (!present || present.revision !== incoming.revision || present.length !== length) return undefined;
  return { ...incoming, body: present.body, length };
}

/** Appends a piece of running text to its message. */
export function applyDelta(thread: Thread, delta: Delta): Applied {
  if (delta.conversationId !== thread.conversationId) return { thread, complete: true };
  const index = thread.messages.findLastIndex((message) => message.id === delta.messageId);
  const message = thread.messages[index];
  if (!message) return { thread, complete: false };
  const grown = appendDelta(message, delta);
  if (grown === 'gap') return { thread, complete: false };
  if (grown === message) return { thread, complete: true };
  return { thread: { ...thread, messages: withReplaced(thread.messages, index, grown) }, complete: true };
}

function heardVersion(thread: Thread, version: number): Thread {
  if (version <= thread.version || thread.ahead.includes(version)) return thread;
  return settle({ ...thread, ahead: [...thread.ahead, version] });
}

function completeUpTo(thread: Thread, version: number): Thread {
  return version <= thread.version ? thread : settle({ ...thread, version });
}

/** Versions ahead that have become the next ones join. */
function settle(thread: Thread): Thread {
  const waiting = new Set(thread.ahead);
  let { version } = thread;
  while (waiting.has(version + 1)) version += 1;
  return { ...thread, version, ahead: thread.ahead.filter((each) => each > version) };
}

type Status = 'pending' | 'streaming' | 'completed' | 'failed' | 'cancelled';

export interface Message {
  id: string;
  conversationId: string;
  /** Orders the conversation from 1, without gaps; 0 where the server's cannot be read. */
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
  /** Which of its texts, from 1, a reply shows, and how many it has. */
  variant: number;
  variants: number;
  createdAt: string;
  updatedAt: string;
}

/** One of the reader's lines that is to have other words, as it was when they began. */
export type EditedLine = Pick<Message, 'id' | 'conversationId' | 'seq' | 'revision'>;

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
    variant: dto.variant ?? 1,
    variants: dto.variants ?? 1,
    createdAt: dto.created_at ?? '',
    updatedAt: dto.updated_at ?? dto.created_at ?? '',
  };
}

export const isRunning = (message: Message): boolean => message.status === 'pending' || message.status === 'streaming';

/** A mark at the end of its text may be open: more is coming, or it was cut. */
export const isUnfinished = (message: Message): boolean => message.status !== 'completed';

/** What a row of the log is known by for ever: a line keeps its client id from the first paint on. */
export const keyOf = (message: Message): string => message.clientId ?? message.id;

/** Of two states of one message the later: by version, then revision, then how far its text has come. */
function laterOf(local: Message, incoming: Message): Message {
  // what followed an edited line is gone, and others stand in its place
  if (incoming.id !== local.id) return incoming.version > local.version ? incoming : local;
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
function appendDelta(message: Message, delta: Delta): Message | 'gap' {
  if (delta.revision > message.revision) return 'gap';
  if (delta.revision < message.revision || !isRunning(message)) return message;
  const length = codePoints(delta.text);
  if (delta.offset + length <= message.length) return message;
  if (delta.offset !== message.length) return 'gap';
  return { ...message, body: message.body + delta.text, length: message.length + length, status: 'streaming' };
}
