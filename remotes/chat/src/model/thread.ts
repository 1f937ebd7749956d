import type { DeltaEventDto, LatestDto, MessageDto, MessageEventDto, SentDto } from '@liaozhai/shared/contract';
import { believableVersion, hasEnded } from './conversation';
import { appendDelta, hasOddVariant, isRunning, laterVersion, type Message, toMessage } from './message';

/** The loaded part of a story's conversation. */
export interface Thread {
  storyId: string;
  /** null until the first message is sent. */
  conversationId: string | null;
  /** Ordered by seq, each id once. Messages before the first are on the server if `hasOlder`. */
  messages: Message[];
  /** Every change up to this version is in `messages`. */
  version: number;
  /** Versions merged beyond a missing one. */
  ahead: number[];
  /** The highest version that a response has named. An event may name one that was rolled back. */
  statedVersion?: number;
  /** At that version the conversation ended at that seq: an edit or a restart had deleted the later messages. */
  cut?: { seq: number; version: number } | undefined;
  hasOlder: boolean;
  /** Version up to which the user had seen the conversation on any device, when it was loaded. */
  readVersion?: number | undefined;
  /** The run that this page left for the current one; its late events must not open it again. */
  leftId?: string | undefined;
}

/** Response of `GET /v1/messages/latest`. */
export interface Page {
  conversationId: string | null;
  messages: Message[];
  version: number;
  /** Whether the server sent that version; otherwise it is the highest of the rows. */
  isVersionStated?: boolean;
  /** The last seq at that version: later messages are gone. undefined if the server never deletes messages. */
  lastSeq?: number | undefined;
  hasMore: boolean;
  readVersion?: number | undefined;
  /** None of its rows could be parsed, so it must not be shown as an empty chat or as the beginning of one. */
  isUnparsed?: boolean;
}

/** Result of applying an event or a delta; `complete` is false if an earlier change is missing. */
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

/** `canShrink`: the server can delete messages, so that its `last_seq` shows which ones are gone, unless it has later ones itself. */
export function toPage(body: LatestDto, canShrink = false): Page {
  const id = body.meta?.conversation_id ?? body.data[0]?.conversation_id;
  const messages = body.data.map((dto) => toMessage({ ...dto, conversation_id: dto.conversation_id ?? id }));
  const highestVersion = messages.reduce((highest, message) => Math.max(highest, message.version), 0);
  const hasMore = body.meta?.has_more ?? false;
  const lastSeq = body.meta?.last_seq;
  const canTrust = canShrink && typeof lastSeq === 'number' && messages.every(({ seq }) => seq <= lastSeq);
  return {
    conversationId: id ?? null,
    messages,
    version: body.meta?.version ?? highestVersion,
    isVersionStated: typeof body.meta?.version === 'number',
    lastSeq: canTrust ? lastSeq : undefined,
    hasMore,
    readVersion: body.meta?.read_version ?? undefined,
    isUnparsed: body.is_unread === true || (hasMore && messages.length === 0),
  };
}

/** The running message, of which there is at most one, among the last three. */
export const runningMessage = (thread: Thread): Message | undefined => thread.messages.slice(-3).findLast(isRunning);

/** Version of a finished reply that was unseen when the thread was loaded, if any. */
export function unreadVersion({ messages, readVersion = 0 }: Thread): number | undefined {
  const last = messages.at(-1);
  return last && hasEnded(last) && last.version > readVersion ? last.version : undefined;
}

/** Returns the message with a seq: without a readable one, it keeps its known position or is placed at the end. */
const withSeq = (messages: Message[], message: Message): Message =>
  message.seq > 0
    ? message
    : { ...message, seq: messages.findLast(({ id }) => id === message.id)?.seq ?? (messages.at(-1)?.seq ?? 0) + 1 };

export const findMessage = (thread: Thread, id: string): Message | undefined =>
  thread.messages.findLast((message) => message.id === id);

/** Merges messages, the later state of each. Skips those before the loaded window, which load with their page. */
function mergeMessages(thread: Thread, incoming: Message[]): Thread {
  const first = thread.messages[0];
  const ids = new Set(incoming.map(({ id }) => id));
  let messages = thread.messages;
  for (const each of incoming) {
    const message = withSeq(messages, each);
    if (thread.hasOlder && first && message.seq < first.seq) continue;
    // one message is one row: another seq moves it
    const former = messages.findLast(({ id, seq }) => id === message.id && seq !== message.seq);
    messages = former
      ? withMessage(
          messages.filter((other) => other !== former),
          { ...laterVersion(former, message), seq: message.seq },
          ids,
        )
      : withMessage(messages, message, ids);
  }
  return messages === thread.messages ? thread : { ...thread, messages };
}

/** Removes the messages after `seq` that are not newer than `version`, and records that, since some of them may arrive late. */
export function cutAfter(thread: Thread, seq: number, version: number): Thread {
  const messages = thread.messages.filter((message) => message.seq <= seq || message.version > version);
  const cut = version > (thread.cut?.version ?? 0) ? { seq, version } : thread.cut;
  if (messages.length === thread.messages.length) return cut === thread.cut ? thread : { ...thread, cut };
  // changes below the window were skipped, so they are fetched if no message of the window remains
  const ahead = messages.length === 0 && thread.hasOlder ? [] : thread.ahead;
  return { ...thread, messages, ahead, cut, hasOlder: thread.hasOlder && seq > 0 };
}

/** Applies a restart of the conversation at that version. */
export const withRestart = (thread: Thread, version: number): Thread =>
  withVersion({ ...cutAfter(thread, 0, version), hasOlder: false }, version);

/** A new id replaces what its seq had before, unless the response has both, whose ids are `ids`. */
function withMessage(messages: Message[], message: Message, ids: ReadonlySet<string>): Message[] {
  const lastIndex = messages.findLastIndex(({ seq }) => seq <= message.seq);
  const ownIndex = messages.findLastIndex(({ id, seq }) => id === message.id && seq === message.seq);
  const index = ownIndex < 0 ? lastIndex : ownIndex;
  const presentMessage = messages[index];
  if (presentMessage?.seq !== message.seq || (ownIndex < 0 && ids.has(presentMessage.id)))
    return [...messages.slice(0, index + 1), message, ...messages.slice(index + 1)];
  const laterMessage = laterVersion(presentMessage, message);
  return laterMessage === presentMessage ? messages : withReplaced(messages, index, laterMessage);
}

/** Copied with `slice`, since an element-wise copy would make ten thousand calls for each delta of a reply. */
function withReplaced(messages: Message[], index: number, message: Message): Message[] {
  const copy = messages.slice();
  copy[index] = message;
  return copy;
}

/** The run to record as left when `next` replaces the thread; none if the user returns to the run they had left. */
const leftRun = ({ conversationId, leftId }: Thread, next: string | null): Pick<Thread, 'leftId'> => ({
  leftId: conversationId ?? (leftId === next ? undefined : leftId),
});

/** Merges the newest page into the thread, or replaces the thread if they do not overlap. */
export function withNewest(thread: Thread, page: Page): Thread {
  if (page.conversationId === null && thread.conversationId === null) return thread;
  const lastSeq = thread.messages.at(-1)?.seq ?? Number.NEGATIVE_INFINITY;
  const overlaps = (page.messages[0]?.seq ?? 0) <= lastSeq + 1;
  if (page.conversationId === thread.conversationId && overlaps) return withChanges(thread, page);
  return {
    ...emptyThread(thread.storyId),
    ...leftRun(thread, page.conversationId),
    conversationId: page.conversationId,
    messages: mergeMessages(emptyThread(thread.storyId), page.messages).messages,
    version: page.version,
    statedVersion: page.version,
    hasOlder: page.hasMore,
    readVersion: page.readVersion,
  };
}

/** Prepends the page that was requested with `before`; a page that adds nothing is the last one. */
export function withOlder(thread: Thread, page: Page, before: number): Thread {
  if (page.conversationId !== thread.conversationId || thread.messages[0]?.seq !== before) return thread;
  const count = page.messages.length;
  const older = page.messages
    .map((message, index) => (message.seq > 0 ? message : { ...message, seq: before - count + index }))
    .filter((message) => message.seq < before);
  return {
    ...thread,
    messages: [...older, ...thread.messages],
    // the page may predate a change that was skipped as below the window, so catching up restarts at the page's version
    version: Math.min(thread.version, page.version),
    ahead: thread.ahead.filter((each) => each <= page.version),
    hasOlder: page.hasMore && older.length > 0,
  };
}

/** Merges a page of changes that was requested with `after`. A deletion raises the version, so without it only unversioned messages go. */
export function withChanges(thread: Thread, page: Page): Thread {
  if (page.conversationId !== thread.conversationId) return thread;
  const cutVersion = page.version > thread.version ? page.version : 0;
  const cutThread = page.lastSeq === undefined ? thread : cutAfter(thread, page.lastSeq, cutVersion);
  const asOf = page.version < thread.version ? thread.version : 0;
  const present = page.messages.filter((each) => !wasDeleted({ ...cutThread, version: asOf }, each));
  return withStatedVersion(withCompleteVersion(mergeMessages(cutThread, present), page.version), page.version);
}

/** Records a version that a response has named. */
export const withStatedVersion = (thread: Thread, version: number): Thread =>
  version <= (thread.statedVersion ?? 0) ? thread : { ...thread, statedVersion: version };

/** The highest version that any event or response has named. */
export const highestVersion = ({ version, ahead }: Thread): number => Math.max(version, ...ahead);

/**
 * Whether the last page of changes contradicts the thread: the server is behind the version that was known before the request, or
 * has later messages. Then a named version was wrong, its transaction was rolled back, or the page comes from a replica that lags.
 */
export const contradicts = ({ messages }: Thread, page: Page, knownVersion: number): boolean =>
  page.isVersionStated === true && (page.version < knownVersion || (page.lastSeq ?? 0) > (messages.at(-1)?.seq ?? 0));

type Answer = Pick<SentDto, 'message'> & Partial<Pick<SentDto, 'reply'>>;

/** The version that an event or a response names for a message; undefined if it is no possible one, or its variant is not. */
const versionOf = (thread: Thread, dto: MessageDto, version = dto.version): number | undefined =>
  hasOddVariant(dto, findMessage(thread, dto.id)) ? undefined : believableVersion(highestVersion(thread), version);

/** Whether a new message may have its seq: a free place, at most as far past the end as changes are missing. */
function hasFreePlace({ messages, version, hasOlder }: Thread, message: Message): boolean {
  const lastSeq = messages.at(-1)?.seq ?? (hasOlder ? Number.POSITIVE_INFINITY : 0);
  const isNear = message.seq <= lastSeq + Math.max(message.version - version, 0);
  return isNear && messages.every(({ seq }) => seq !== message.seq);
}

/** The message at the place that it has in the thread; a new one without a possible place is put at the end. */
function placed(thread: Thread, message: Message): Message {
  const known = findMessage(thread, message.id);
  if (known) return known.seq === message.seq ? message : { ...message, seq: known.seq };
  return hasFreePlace(thread, message) ? message : withSeq(thread.messages, { ...message, seq: 0 });
}

/**
 * Merges the server's response to a sent message or to an action on one. An edit or a restart may have deleted its messages since.
 * Leaves out a reply that is the message itself, the user's, or in another conversation.
 */
export function withResponse(thread: Thread, conversationId: string, { message, reply }: Answer): Thread {
  const isSameConversation = thread.conversationId === conversationId;
  const currentThread = isSameConversation
    ? thread
    : { ...emptyThread(thread.storyId), ...leftRun(thread, conversationId), conversationId };
  const isReply =
    reply &&
    reply.id !== message.id &&
    reply.role !== 'user' &&
    (reply.conversation_id ?? conversationId) === conversationId;
  return [message, ...(isReply ? [reply] : [])].reduce((merged, dto) => {
    const named = { ...dto, conversation_id: conversationId, version: versionOf(merged, dto) };
    const incoming = toMessage(named, findMessage(merged, dto.id));
    if (wasCut(currentThread, incoming)) return merged;
    const own = placed(merged, incoming);
    const next = mergeMessages(merged, [own]);
    // the next page places a message whose seq was wrong
    return own === incoming ? withStatedVersion(withVersion(next, own.version), own.version) : next;
  }, currentThread);
}

/** Merges `message.created`, `message.completed` or `message.failed`. `ending`: what the event's name says of its message. */
export function applyEvent(loadedThread: Thread, event: MessageEventDto, ending?: 'completed' | 'failed'): Applied {
  const sent = event.message ?? event;
  const isContradicted = ending !== undefined && (sent.status === 'pending' || sent.status === 'streaming');
  const dto = isContradicted ? { ...sent, status: ending } : sent;
  const { id, seq } = dto;
  if (!id || !seq) return { thread: loadedThread, complete: false };
  const conversation_id = dto.conversation_id ?? event.conversation_id;
  const presentMessage = findMessage(loadedThread, id);
  const namedVersion = versionOf(loadedThread, { ...dto, id }, event.version ?? dto.version);
  const incoming = toMessage({ ...dto, id, conversation_id, version: namedVersion }, presentMessage);
  const thread = withFirstConversation(loadedThread, dto, incoming);
  if (incoming.conversationId !== thread.conversationId) return { thread, complete: true };
  const isErased = dto.body === '' && ending === 'completed' && presentMessage?.revision === incoming.revision;
  const isMissing = (dto.body === null || isErased) && presentMessage?.body;
  const isCut = event.truncated === true || dto.body === undefined || isMissing;
  // a smaller one contradicts the message itself
  const isShortened = typeof event.last_seq === 'number' && event.last_seq >= (presentMessage?.seq ?? seq);
  const remainingThread = isShortened ? cutAfter(thread, event.last_seq ?? 0, namedVersion ?? 0) : thread;
  const wholeMessage = isCut ? withKnownBody(remainingThread, incoming, dto.body_length ?? undefined) : incoming;
  // a late event may concern a message that has been deleted since
  if (wholeMessage && wasDeleted(remainingThread, wholeMessage)) return { thread: remainingThread, complete: false };
  // it follows an edit that is still missing, or its seq is wrong
  if (!presentMessage && !hasFreePlace(remainingThread, incoming)) return { thread: remainingThread, complete: false };
  const own = wholeMessage && placed(remainingThread, wholeMessage);
  const version = own === wholeMessage ? namedVersion : undefined;
  const mergedThread = own ? mergeMessages(remainingThread, [own]) : remainingThread;
  if (version === undefined) return { thread: mergedThread, complete: false };
  if (!wholeMessage) return { thread: remainingThread, complete: version <= remainingThread.version };
  const isBelowWindow = remainingThread !== thread && remainingThread.messages.length === 0 && remainingThread.hasOlder;
  const appliedThread = withVersion(mergedThread, version);
  return { thread: appliedThread, complete: appliedThread.version >= version && !isBelowWindow };
}

/** A message past the end of a thread that is complete up to the message's version, or past an end that was recorded. */
const wasDeleted = (thread: Thread, message: Message): boolean =>
  wasCut(thread, message) ||
  (message.version > 0 && message.version <= thread.version && message.seq > (thread.messages.at(-1)?.seq ?? 0));

const wasCut = ({ cut }: Thread, { version, seq }: Message): boolean =>
  cut !== undefined && version > 0 && version < cut.version && seq > cut.seq;

/** The first message of a story creates its conversation, perhaps on another device. */
const withFirstConversation = (thread: Thread, dto: MessageEventDto, incoming: Message): Thread =>
  thread.conversationId === null &&
  String(dto.story_id) === thread.storyId &&
  incoming.conversationId !== '' &&
  incoming.conversationId !== thread.leftId
    ? { ...thread, conversationId: incoming.conversationId }
    : thread;

/** Restores the text of a truncated event if deltas have already brought all of it. */
function withKnownBody(thread: Thread, incoming: Message, length: number | undefined): Message | undefined {
  const presentMessage = findMessage(thread, incoming.id);
  if (!presentMessage || presentMessage.revision !== incoming.revision || presentMessage.length !== length)
    return undefined;
  return { ...incoming, body: presentMessage.body, length };
}

/** Appends a piece of a running reply to its message. */
export function applyDelta(thread: Thread, delta: DeltaEventDto): Applied {
  if (delta.conversation_id !== thread.conversationId) return { thread, complete: true };
  const index = thread.messages.findLastIndex((message) => message.id === delta.message_id);
  const message = thread.messages[index];
  if (!message) return { thread, complete: false };
  const grownMessage = appendDelta(message, delta);
  if (grownMessage === 'gap') return { thread, complete: false };
  if (grownMessage === message) return { thread, complete: true };
  return { thread: { ...thread, messages: withReplaced(thread.messages, index, grownMessage) }, complete: true };
}

function withVersion(thread: Thread, version: number): Thread {
  if (version <= thread.version || thread.ahead.includes(version)) return thread;
  return withJoinedVersions({ ...thread, ahead: [...thread.ahead, version] });
}

function withCompleteVersion(thread: Thread, version: number): Thread {
  return version <= thread.version ? thread : withJoinedVersions({ ...thread, version });
}

/** Joins the versions ahead that directly follow the thread's version. */
function withJoinedVersions(thread: Thread): Thread {
  const aheadVersions = new Set(thread.ahead);
  let { version } = thread;
  while (aheadVersions.has(version + 1)) version += 1;
  return { ...thread, version, ahead: thread.ahead.filter((each) => each > version) };
}
