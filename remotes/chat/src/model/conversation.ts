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
  /** One line of the last message, without marks; dots where the server does not tell it, empty where nothing has been said. */
  excerpt: string;
  isMine: boolean;
  /** A reply has ended that was seen on none of the reader's devices. */
  isUnread: boolean;
  /** ISO time at which the reader put it first; empty for all others. */
  pinnedAt: string;
  /** Which run of its story it is, from 1. */
  run: number;
  /** Put aside for another run. */
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

/** Conversations of all pages, each once, first those that were put first and then the latest, since a list that moves repeats some. */
export function conversationsOf(pages: ConversationPage[]): Conversation[] {
  const byId = new Map<string, Conversation>();
  for (const conversation of pages.flatMap((page) => page.items)) {
    const listed = byId.get(conversation.id);
    if (!listed || listed.version < conversation.version) byId.set(conversation.id, conversation);
  }
  return [...byId.values()].sort((left, right) => (comesAfter(left, right) ? 1 : -1));
}

const comesAfter = (left: Conversation, right: Conversation): boolean =>
  left.pinnedAt === right.pinnedAt ? left.updatedAt < right.updatedAt : left.pinnedAt < right.pinnedAt;

const hasEnded = (role: string | null | undefined, status: string | null | undefined): boolean =>
  role === 'assistant' && (status === 'completed' || status === 'failed');

export const withoutConversation = (pages: ConversationPage[], id: string): ConversationPage[] =>
  pages.map((page) => ({ ...page, items: page.items.filter((conversation) => conversation.id !== id) }));

/** The conversation as an event about its last message leaves it; undefined where only the server can tell: not listed, or too long for its event. */
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
    // A reply that has only begun says nothing yet, so the line before it stays.
    ...(dto.body ? { excerpt: toExcerpt(dto.body) } : { isMine: listed.isMine }),
    updatedAt: laterTime(listed.updatedAt, dto.updated_at ?? dto.created_at ?? ''),
  };
  return withReplaced(pages, changed);
}

const withReplaced = (pages: ConversationPage[], changed: Conversation): ConversationPage[] =>
  pages.map((page) => ({ ...page, items: page.items.map((each) => (each.id === changed.id ? changed : each)) }));

const laterTime = (left: string, right: string) => (right > left ? right : left);

/** The newest page put over what is listed; what it should hold and does not was deleted elsewhere. */
export function withNewestPage(pages: ConversationPage[], newest: ConversationPage): ConversationPage[] {
  const listed = new Set(conversationsOf(pages).map((conversation) => conversation.id));
  // what was put first stands on every newest page and joins nothing
  const touches = newest.items.some(({ id, pinnedAt }) => !pinnedAt && listed.has(id));
  const oldest = newest.items.at(-1)?.updatedAt;
  if (!touches || newest.nextCursor === null || oldest === undefined) return [newest];
  const fresh = new Set(newest.items.map((conversation) => conversation.id));
  const stays = (each: Conversation) => !fresh.has(each.id) && each.updatedAt <= oldest;
  return pages.map((page, index) => ({
    items: [...(index === 0 ? newest.items : []), ...page.items.filter(stays).map(withoutPin)],
    // the device's copy ends the list where the network could not go on
    nextCursor: pages.length === 1 ? (page.nextCursor ?? newest.nextCursor) : page.nextCursor,
  }));
}

/** What is put first stands on the newest page. */
const withoutPin = (each: Conversation): Conversation => (each.pinnedAt ? { ...each, pinnedAt: '' } : each);

/** The conversation's line in the list as its thread leaves it, of which no reply is being written. */
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

/** The list as it is once a conversation was read or put first, here or elsewhere. */
export function withMarks(pages: ConversationPage[], marked: Conversation): ConversationPage[] {
  const listed = conversationsOf(pages).find(({ id }) => id === marked.id);
  if (!listed) return marked.pinnedAt ? withConversation(pages, marked) : pages;
  // messages since then arrive by their own events
  const isBehind = marked.version < listed.version;
  const { pinnedAt, isShelved } = marked;
  return withReplaced(pages, isBehind ? { ...listed, pinnedAt, isShelved } : marked);
}

/** The list as it is once that run is its story's present one. */
export const withPresent = (pages: ConversationPage[], { id, storyId }: Conversation): ConversationPage[] =>
  pages.map((page) => ({
    ...page,
    items: page.items.map((each) => (each.storyId === storyId ? { ...each, isShelved: each.id !== id } : each)),
  }));

/** The list with a conversation that has just begun, or the newer state of a listed one; an answer may come after events that are ahead of it. */
export function withConversation(pages: ConversationPage[], conversation: Conversation): ConversationPage[] {
  const listed = conversationsOf(pages).find(({ id }) => id === conversation.id);
  if (listed && listed.version > conversation.version) return pages;
  const updatedAt = laterTime(listed?.updatedAt ?? '', conversation.updatedAt);
  const others = withoutConversation(pages, conversation.id);
  const first = { ...conversation, updatedAt };
  return others.map((page, index) => (index === 0 ? { ...page, items: [first, ...page.items] } : page));
}
