import type { ConversationDto, CursorPage, MessageDto, MessageEventDto } from '@liaozhai/shared/contract';
import { isBlank, shorten, UNREADABLE, UNTITLED } from '@liaozhai/shared/format';
import { texts } from '../texts';
import type { Thread } from './thread';

const EXCERPT_CHARACTERS = 80;

export type Conversation = ReturnType<typeof toConversation>;

export interface ConversationPage extends CursorPage<Conversation> {
  /** The device's copy of a first page that others follow: they cannot be read offline. */
  isCut?: boolean;
}

const toConversation = (dto: ConversationDto) => ({
  id: String(dto.id),
  /** Empty if it could not be read; then the conversation cannot be opened. */
  storyId: String(dto.story?.id ?? ''),
  title: dto.story?.title || UNTITLED,
  coverUrl: dto.story?.cover_url ?? '',
  coverColor: dto.story?.cover_color ?? undefined,
  /** One line of the last message, without markup. Dots if the server does not send it, empty if there are no messages. */
  excerpt:
    toExcerpt(dto.last_message?.excerpt ?? '') || (dto.last_message === null && !dto.last_seq ? '' : texts.list.unsaid),
  isMine: dto.last_message?.role === 'user',
  /** A reply has ended that the user has not seen on any device. */
  isUnread: dto.unread ?? false,
  /** ISO time at which the user pinned it; empty if not pinned. */
  pinnedAt: dto.pinned_at ?? '',
  /** Number of this run of its story, from 1. */
  run: dto.run ?? 1,
  /** Put aside in favour of another run. */
  isShelved: dto.shelved ?? false,
  version: dto.version ?? 0,
  /** ISO time of the last change. */
  updatedAt: dto.updated_at ?? dto.last_message?.created_at ?? dto.created_at ?? '',
});

export const toConversationPage = ({ items, nextCursor }: CursorPage<ConversationDto>): ConversationPage => ({
  items: items.map(toConversation),
  nextCursor,
});

function toExcerpt(body: string): string {
  const words = body.replaceAll('*', '').replace(/\s+/gu, ' ').trim();
  return words && isBlank(words) ? UNREADABLE : shorten(words, EXCERPT_CHARACTERS);
}

/** Applies the `pinnedAt` that is being saved, by id. */
export const withPin = (conversation: Conversation, pins: Record<string, string>): Conversation => {
  const pinnedAt = pins[conversation.id];
  return pinnedAt === undefined ? conversation : { ...conversation, pinnedAt };
};

/**
 * Merges all pages: pinned first, then the latest first. Each is listed once, since pages of a changing list overlap. `pins`: see
 * `withPin`.
 */
export function conversationsOf(pages: ConversationPage[], pins: Record<string, string> = {}): Conversation[] {
  const byId = new Map<string, Conversation>();
  for (const conversation of pages.flatMap((page) => page.items)) {
    const listedConversation = byId.get(conversation.id);
    if (!listedConversation || listedConversation.version < conversation.version)
      byId.set(conversation.id, conversation);
  }
  // equal ones stay in the server's order
  return [...byId.values()]
    .map((conversation) => withPin(conversation, pins))
    .sort((left, right) => descending(left.pinnedAt, right.pinnedAt) || descending(left.updatedAt, right.updatedAt));
}

const descending = (left: string, right: string): number => Number(left < right) - Number(left > right);

const MAX_MISSED_CHANGES = 1000;

/** The version that an event or a response names for a conversation; undefined if it is too far past the known one to be one. */
export const believableVersion = (knownVersion: number, version: number | null | undefined): number | undefined =>
  (version ?? 0) <= knownVersion + MAX_MISSED_CHANGES ? (version ?? undefined) : undefined;

/** Whether a reply has come to its end. Here, so that the list does not load what chats do with messages. */
export const hasEnded = ({ role, status }: Pick<MessageDto, 'role' | 'status'>): boolean =>
  role === 'assistant' && (status === 'completed' || status === 'failed');

export const withoutConversation = (pages: ConversationPage[], id: string): ConversationPage[] =>
  pages.map((page) => ({ ...page, items: page.items.filter((conversation) => conversation.id !== id) }));

/** Applies an event about the last message. Returns undefined if the list must be fetched: not listed, truncated or misread. */
export function withLastMessage(pages: ConversationPage[], event: MessageEventDto): ConversationPage[] | undefined {
  const dto = event.message ?? event;
  const id = String(dto.conversation_id ?? event.conversation_id);
  const listedConversation = conversationsOf(pages).find((conversation) => conversation.id === id);
  if (!listedConversation) return undefined;
  const { version: listedVersion } = listedConversation;
  const version = event.version ?? dto.version ?? listedVersion;
  // one of the two is misread; 0 means that the list has no versions
  if (listedVersion > 0 && Math.abs(version - listedVersion) > MAX_MISSED_CHANGES) return undefined;
  if (version <= listedVersion) return pages;
  if (event.truncated === true || dto.body === undefined || dto.body === null) return undefined;
  const { role, status, body } = dto;
  return withLast(pages, listedConversation, {
    version,
    role,
    status,
    body,
    at: dto.updated_at ?? dto.created_at ?? '',
  });
}

interface LastMessage extends Pick<MessageDto, 'role' | 'status'> {
  version: number;
  body: string;
  at: string;
}

const withLast = (pages: ConversationPage[], listedConversation: Conversation, last: LastMessage): ConversationPage[] =>
  withReplaced(pages, {
    ...listedConversation,
    version: last.version,
    // a reply that has only begun has no text yet, so the previous excerpt stays
    ...(last.body && { excerpt: toExcerpt(last.body), isMine: last.role === 'user' }),
    isUnread: hasEnded(last),
    updatedAt: laterTime(listedConversation.updatedAt, last.at),
  });

const withReplaced = (pages: ConversationPage[], changedConversation: Conversation): ConversationPage[] =>
  pages.map((page) => ({
    ...page,
    items: page.items.map((each) => (each.id === changedConversation.id ? changedConversation : each)),
  }));

const laterTime = (left: string, right: string) => (right > left ? right : left);

/** Merges the newest page into the list. Listed items that fall within its range but are missing from it were deleted elsewhere. */
export function withNewestPage(pages: ConversationPage[], newest: ConversationPage): ConversationPage[] {
  const listedIds = new Set(conversationsOf(pages).map((conversation) => conversation.id));
  // pinned conversations are on every newest page, so they do not show that the pages overlap
  const overlaps = newest.items.some(({ id, pinnedAt }) => !pinnedAt && listedIds.has(id));
  const oldestTime = newest.items.at(-1)?.updatedAt;
  if (!overlaps || newest.nextCursor === null || oldestTime === undefined) return [newest];
  const newestIds = new Set(newest.items.map((conversation) => conversation.id));
  const isKept = (each: Conversation) => !newestIds.has(each.id) && each.updatedAt <= oldestTime;
  return pages.map((page, index) => ({
    items: [...(index === 0 ? newest.items : []), ...page.items.filter(isKept).map(withoutPin)],
    // the device's copy has no next cursor, since paging is not possible offline
    nextCursor: pages.length === 1 ? (page.nextCursor ?? newest.nextCursor) : page.nextCursor,
  }));
}

/** Clears the pin: every pinned conversation is on the newest page. */
const withoutPin = (each: Conversation): Conversation => (each.pinnedAt ? { ...each, pinnedAt: '' } : each);

/** Updates a listed conversation from its thread, while no reply is running. */
export function withThread(pages: ConversationPage[], thread: Thread): ConversationPage[] {
  const last = thread.messages.findLast((message) => message.body !== '');
  const listedConversation = conversationsOf(pages).find((conversation) => conversation.id === thread.conversationId);
  if (!last || !listedConversation || listedConversation.version >= thread.version) return pages;
  return withLast(pages, listedConversation, { ...last, version: thread.version, at: last.updatedAt });
}

/** Names of a conversation's values by the field of the DTO that they are from. */
const namesByField: [keyof ConversationDto, (keyof Conversation)[]][] = [
  ['story', ['storyId', 'title', 'coverUrl', 'coverColor']],
  ['last_message', ['excerpt', 'isMine']],
  ['unread', ['isUnread']],
  ['pinned_at', ['pinnedAt']],
  ['run', ['run']],
  ['shelved', ['isShelved']],
  ['version', ['version']],
  ['updated_at', ['updatedAt']],
];

/** Merges a DTO into the listed conversation; missing fields stay. Undefined if it is not listed and has no story to show. */
export function mergeDto(pages: ConversationPage[], namedDto: ConversationDto): Conversation | undefined {
  const listedConversation = conversationsOf(pages).find(({ id }) => id === String(namedDto.id));
  const dto = { ...namedDto, version: believableVersion(listedConversation?.version ?? 0, namedDto.version) };
  const conversation = toConversation(dto);
  if (!listedConversation) return dto.story ? conversation : undefined;
  const missingNames = namesByField.flatMap(([field, names]) => (dto[field] === undefined ? names : []));
  const missing = Object.fromEntries(missingNames.map((name) => [name, listedConversation[name]]));
  return { ...conversation, ...missing, storyId: conversation.storyId || listedConversation.storyId };
}

/** Returns the change of the list that a response or an event about one conversation makes. */
export const merging =
  (change: (pages: ConversationPage[], conversation: Conversation) => ConversationPage[], dto: ConversationDto) =>
  (pages: ConversationPage[]): ConversationPage[] => {
    const conversation = mergeDto(pages, dto);
    return conversation ? change(pages, conversation) : pages;
  };

/** Applies a changed read, pinned or shelved mark, from this or another device. */
export function withMarks(pages: ConversationPage[], markedConversation: Conversation): ConversationPage[] {
  const listedConversation = conversationsOf(pages).find(({ id }) => id === markedConversation.id);
  if (!listedConversation) return markedConversation.pinnedAt ? withConversation(pages, markedConversation) : pages;
  // messages since then arrive by their own events
  const isBehind = markedConversation.version < listedConversation.version;
  const { pinnedAt, isShelved } = markedConversation;
  return withReplaced(pages, isBehind ? { ...listedConversation, pinnedAt, isShelved } : markedConversation);
}

/** Marks the given run as the current one of its story. */
export const withCurrentRun = (
  pages: ConversationPage[],
  { id, storyId }: Pick<Conversation, 'id' | 'storyId'>,
): ConversationPage[] =>
  pages.map((page) => ({
    ...page,
    items: page.items.map((each) => (each.storyId === storyId ? { ...each, isShelved: each.id !== id } : each)),
  }));

/** Adds a new conversation or replaces a listed one, unless an event has already brought a newer version. */
export function withConversation(pages: ConversationPage[], conversation: Conversation): ConversationPage[] {
  const listedConversation = conversationsOf(pages).find(({ id }) => id === conversation.id);
  if (listedConversation && listedConversation.version > conversation.version) return pages;
  const updatedAt = laterTime(listedConversation?.updatedAt ?? '', conversation.updatedAt);
  const otherPages = withoutConversation(pages, conversation.id);
  const first = { ...conversation, updatedAt };
  return otherPages.map((page, index) => (index === 0 ? { ...page, items: [first, ...page.items] } : page));
}
