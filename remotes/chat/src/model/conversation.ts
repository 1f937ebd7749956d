import type { ConversationDto, CursorPage, MessageEventDto } from '@liaozhai/shared/contract';
import { shorten, UNTITLED } from '@liaozhai/shared/format';
import { texts } from '../texts';
import type { Thread } from './thread';

const EXCERPT_CHARACTERS = 80;

export interface Conversation {
  id: string;
  storyId: string;
  title: string;
  coverUrl: string;
  coverColor: string | undefined;
  /** One line of the last message, without markup. Dots if the server does not send it, empty if there are no messages. */
  excerpt: string;
  isMine: boolean;
  /** A reply has ended that the user has not seen on any device. */
  isUnread: boolean;
  /** ISO time at which the user pinned it; empty if not pinned. */
  pinnedAt: string;
  /** Number of this run of its story, from 1. */
  run: number;
  /** Put aside in favour of another run. */
  isShelved: boolean;
  version: number;
  /** ISO time of the last change. */
  updatedAt: string;
}

export type ConversationPage = CursorPage<Conversation>;

export const toConversation = (dto: ConversationDto): Conversation => ({
  id: String(dto.id),
  storyId: String(dto.story?.id ?? ''),
  title: dto.story?.title || UNTITLED,
  coverUrl: dto.story?.cover_url ?? '',
  coverColor: dto.story?.cover_color ?? undefined,
  excerpt: toExcerpt(dto.last_message?.excerpt ?? '') || (dto.last_message === null ? '' : texts.list.unsaid),
  isMine: dto.last_message?.role === 'user',
  isUnread: dto.unread ?? false,
  pinnedAt: dto.pinned_at ?? '',
  run: dto.run ?? 1,
  isShelved: dto.shelved ?? false,
  version: dto.version ?? 0,
  updatedAt: dto.updated_at ?? dto.last_message?.created_at ?? dto.created_at ?? '',
});

export const toConversationPage = ({ items, nextCursor }: CursorPage<ConversationDto>): ConversationPage => ({
  items: items.map(toConversation),
  nextCursor,
});

const toExcerpt = (body: string): string =>
  shorten(body.replaceAll('*', '').replace(/\s+/gu, ' ').trim(), EXCERPT_CHARACTERS);

/** Merges all pages: pinned first, then the latest first. Each is listed once, since pages of a changing list overlap. */
export function conversationsOf(pages: ConversationPage[]): Conversation[] {
  const byId = new Map<string, Conversation>();
  for (const conversation of pages.flatMap((page) => page.items)) {
    const listed = byId.get(conversation.id);
    if (!listed || listed.version < conversation.version) byId.set(conversation.id, conversation);
  }
  // equals stay in the server's order
  return [...byId.values()].sort(
    (left, right) => descending(left.pinnedAt, right.pinnedAt) || descending(left.updatedAt, right.updatedAt),
  );
}

const descending = (left: string, right: string): number => Number(left < right) - Number(left > right);

const hasEnded = (role: string | null | undefined, status: string | null | undefined): boolean =>
  role === 'assistant' && (status === 'completed' || status === 'failed');

export const withoutConversation = (pages: ConversationPage[], id: string): ConversationPage[] =>
  pages.map((page) => ({ ...page, items: page.items.filter((conversation) => conversation.id !== id) }));

/** Applies an event about the last message. Returns undefined if the list must be fetched: not listed, or truncated event. */
export function withLastMessage(pages: ConversationPage[], event: MessageEventDto): ConversationPage[] | undefined {
  const dto = event.message ?? event;
  const id = String(dto.conversation_id ?? event.conversation_id);
  const listed = conversationsOf(pages).find((conversation) => conversation.id === id);
  if (!listed) return undefined;
  const version = event.version ?? dto.version ?? listed.version;
  if (version <= listed.version) return pages;
  if (event.truncated === true || dto.body === undefined || dto.body === null) return undefined;
  const changed: Conversation = {
    ...listed,
    version,
    isMine: dto.role === 'user',
    isUnread: hasEnded(dto.role, dto.status),
    // a reply that has only begun has no text yet, so the previous excerpt stays
    ...(dto.body ? { excerpt: toExcerpt(dto.body) } : { isMine: listed.isMine }),
    updatedAt: laterTime(listed.updatedAt, dto.updated_at ?? dto.created_at ?? ''),
  };
  return withReplaced(pages, changed);
}

const withReplaced = (pages: ConversationPage[], changed: Conversation): ConversationPage[] =>
  pages.map((page) => ({ ...page, items: page.items.map((each) => (each.id === changed.id ? changed : each)) }));

const laterTime = (left: string, right: string) => (right > left ? right : left);

/** Merges the newest page into the list. Listed items that fall within its range but are missing from it were deleted elsewhere. */
export function withNewestPage(pages: ConversationPage[], newest: ConversationPage): ConversationPage[] {
  const listed = new Set(conversationsOf(pages).map((conversation) => conversation.id));
  // pinned conversations are on every newest page, so they do not show that the pages overlap
  const touches = newest.items.some(({ id, pinnedAt }) => !pinnedAt && listed.has(id));
  const oldest = newest.items.at(-1)?.updatedAt;
  if (!touches || newest.nextCursor === null || oldest === undefined) return [newest];
  const fresh = new Set(newest.items.map((conversation) => conversation.id));
  const stays = (each: Conversation) => !fresh.has(each.id) && each.updatedAt <= oldest;
  return pages.map((page, index) => ({
    items: [...(index === 0 ? newest.items : []), ...page.items.filter(stays).map(withoutPin)],
    // the device's copy has no next cursor, since paging is not possible offline
    nextCursor: pages.length === 1 ? (page.nextCursor ?? newest.nextCursor) : page.nextCursor,
  }));
}

/** Clears the pin: every pinned conversation is on the newest page. */
const withoutPin = (each: Conversation): Conversation => (each.pinnedAt ? { ...each, pinnedAt: '' } : each);

/** Updates a listed conversation from its thread, while no reply is running. */
export function withThread(pages: ConversationPage[], thread: Thread): ConversationPage[] {
  const last = thread.messages.findLast((message) => message.body !== '');
  const listed = conversationsOf(pages).find((conversation) => conversation.id === thread.conversationId);
  if (!last || !listed || listed.version >= thread.version) return pages;
  const changed: Conversation = {
    ...listed,
    version: thread.version,
    excerpt: toExcerpt(last.body),
    isMine: last.role === 'user',
    isUnread: hasEnded(last.role, last.status),
    updatedAt: laterTime(listed.updatedAt, last.updatedAt),
  };
  return withReplaced(pages, changed);
}

/** Applies a changed read, pinned or shelved mark, from this or another device. */
export function withMarks(pages: ConversationPage[], marked: Conversation): ConversationPage[] {
  const listed = conversationsOf(pages).find(({ id }) => id === marked.id);
  if (!listed) return marked.pinnedAt ? withConversation(pages, marked) : pages;
  // messages since then arrive by their own events
  const isBehind = marked.version < listed.version;
  const { pinnedAt, isShelved } = marked;
  return withReplaced(pages, isBehind ? { ...listed, pinnedAt, isShelved } : marked);
}

/** Marks the given run as the current one of its story. */
export const withPresent = (pages: ConversationPage[], { id, storyId }: Conversation): ConversationPage[] =>
  pages.map((page) => ({
    ...page,
    items: page.items.map((each) => (each.storyId === storyId ? { ...each, isShelved: each.id !== id } : each)),
  }));

/** Adds a new conversation or replaces a listed one, unless an event has already brought a newer version. */
export function withConversation(pages: ConversationPage[], conversation: Conversation): ConversationPage[] {
  const listed = conversationsOf(pages).find(({ id }) => id === conversation.id);
  if (listed && listed.version > conversation.version) return pages;
  const updatedAt = laterTime(listed?.updatedAt ?? '', conversation.updatedAt);
  const others = withoutConversation(pages, conversation.id);
  const first = { ...conversation, updatedAt };
  return others.map((page, index) => (index === 0 ? { ...page, items: [first, ...page.items] } : page));
}
