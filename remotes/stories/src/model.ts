import {
  type CharacterDto,
  type ConversationDto,
  type CursorPage,
  paths,
  type StoryDto,
} from '@liaozhai/shared/contract';
import { firstCodePoints, shorten, UNNAMED, UNTITLED } from '@liaozhai/shared/format';
import type { RecentStory } from '@liaozhai/shared/runtime';

/** The user's progress; undefined if the server does not send it. */
function toProgress({ progress }: StoryDto) {
  const { scene, scenes } = progress ?? {};
  if (!scene || !scenes || scene > scenes) return undefined;
  return {
    /** The current scene, from 1 to `scenes`. */
    scene,
    scenes,
    title: progress?.title ?? '',
    /** Titles of the endings reached. `endingsCount` is the number of all endings; undefined if the server does not send it. */
    endings: (progress?.endings ?? []).filter(Boolean),
    endingsCount: progress?.endings_count ?? undefined,
  };
}

export type Progress = NonNullable<ReturnType<typeof toProgress>>;

const toCharacter = (dto: CharacterDto) => ({
  id: dto.id,
  name: dto.name || UNNAMED,
  avatarUrl: dto.avatar ?? '',
  intro: dto.intro ?? '',
});

export type Character = ReturnType<typeof toCharacter>;

export const toStory = (dto: StoryDto) => ({
  id: dto.id,
  title: dto.title || UNTITLED,
  coverUrl: dto.cover_url ?? '',
  /** undefined if the server does not send it. */
  coverColor: dto.cover_color ?? undefined,
  summary: dto.summary ?? '',
  tags: dto.tags.filter(Boolean),
  authorName: dto.author?.name ?? '',
  opening: dto.opening ?? '',
  /** Suggested first messages. */
  openingLines: (dto.opening_lines ?? []).filter(Boolean),
  characters: dto.characters.map(toCharacter),
  /** Price of a message, in points; undefined if the server does not send it. */
  pricePerMessage: dto.price_per_message ?? undefined,
  /** null before the first message; undefined if unknown, since a cached page has no data of its user. */
  conversationId: (dto.conversation_id ?? null) as string | null | undefined,
  /** Whether the user has saved it; undefined if the server does not send it. */
  isFavorite: dto.is_favorite ?? undefined,
  progress: toProgress(dto),
});

export type Story = ReturnType<typeof toStory>;

export type StoryPage = CursorPage<Story>;

export const toStoryPage = ({ items, nextCursor }: CursorPage<StoryDto>): StoryPage => ({
  items: items.map(toStory),
  nextCursor,
});

/** Number of stories that 继续读 shows. */
export const RECENT_COUNT = 3;

const LAST_LINE_CHARACTERS = 40;

/** One line of a message, without markup. */
export const lastLineOf = (body: string): string =>
  shorten(body.replaceAll('*', '').replace(/\s+/gu, ' ').trim(), LAST_LINE_CHARACTERS);

export const toRecentStory = ({ id, title, coverUrl, coverColor }: Story, conversationId: string): RecentStory => ({
  id,
  conversationId,
  title,
  coverUrl,
  coverColor,
});

const lastChange = ({ updated_at, last_message, created_at }: ConversationDto): string =>
  updated_at ?? last_message?.created_at ?? created_at ?? '';

/** Stories of the conversations, newest first regardless of pins, each with its current run. Skips conversations without a story. */
export const toRecentStories = ({ items }: CursorPage<ConversationDto>): RecentStory[] =>
  [...items]
    .sort((one, other) => lastChange(other).localeCompare(lastChange(one)))
    .flatMap(({ id, story, last_message, unread, shelved }) => {
      if (!story?.id || shelved) return [];
      const { title, cover_url, cover_color } = story;
      return {
        id: story.id,
        conversationId: id,
        title: title || UNTITLED,
        coverUrl: cover_url ?? '',
        coverColor: cover_color ?? undefined,
        lastLine: lastLineOf(last_message?.excerpt ?? ''),
        isUnread: unread ?? false,
      };
    });

/** Moves the first story without a conversation to the head of the shelf. */
export function withFreshLead(stories: Story[], begunIds: ReadonlySet<string>): Story[] {
  const lead = stories.find(({ id, conversationId }) => !conversationId && !begunIds.has(id));
  return lead && lead !== stories[0] ? [lead, ...stories.filter((story) => story !== lead)] : stories;
}

/** The first page, to store for offline use. Skips an empty page that others follow. */
export const firstPageStories = (pages: StoryPage[]): Story[] | undefined =>
  pages.find(({ items, nextCursor }) => items.length > 0 || nextCursor === null)?.items;

/** Search of the shelf, in the address as `/explore?q=…&tag=…&sort=…`. */
export interface StorySearch {
  q: string;
  tag: string;
  /** `new` is the default order. */
  sort: 'new' | 'hot';
}

/** Limit of the API, in code points. */
export const SEARCH_CHARACTERS = 60;

/** Returns null for the plain shelf; an empty `q` is a search without text. */
export function parseSearch(params: URLSearchParams): StorySearch | null {
  if (!['q', 'tag', 'sort'].some((name) => params.has(name))) return null;
  const clipped = (name: string) => firstCodePoints(params.get(name) ?? '', SEARCH_CHARACTERS);
  return { q: clipped('q'), tag: clipped('tag'), sort: params.get('sort') === 'hot' ? 'hot' : 'new' };
}

/** Request parameters, without empty and default values. */
export const searchParams = ({ q, tag, sort }: StorySearch): Record<string, string> => ({
  ...(q.trim() && { q: q.trim() }),
  ...(tag && { tag }),
  ...(sort === 'hot' && { sort }),
});

/** The address of a search, which remains a search even if it is empty. */
export function searchPath(search: Partial<StorySearch>): string {
  const params = new URLSearchParams(searchParams({ q: '', tag: '', sort: 'new', ...search }));
  return `${paths.explore()}?${params.size > 0 ? params : 'q='}`;
}

const MAX_TAGS = 12;

/** The most common tags of the stories; equally common ones in order of appearance. */
export function commonTags(stories: Story[]): string[] {
  const counts = new Map<string, number>();
  for (const { tags } of stories) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, MAX_TAGS)
    .map(([tag]) => tag);
}

/** Removes the fields that cards do not show. */
export const withoutDetails = (pages: StoryPage[]): StoryPage[] =>
  pages.map((page) => ({
    ...page,
    items: page.items.map((story) => ({ ...story, opening: '', openingLines: [], characters: [] })),
  }));
