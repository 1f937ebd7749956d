import {
  type CharacterDto,
  type ConversationDto,
  type CursorPage,
  paths,
  type StoryDto,
} from '@liaozhai/shared/contract';
import { shorten, UNNAMED, UNTITLED } from '@liaozhai/shared/format';
import type { RecentStory } from '@liaozhai/shared/runtime';

export interface Character {
  id: string;
  name: string;
  avatarUrl: string;
  intro: string;
}

export interface Story {
  id: string;
  title: string;
  coverUrl: string;
  /** undefined where the server does not say */
  coverColor: string | undefined;
  summary: string;
  tags: string[];
  authorName: string;
  opening: string;
  /** what a reader may say first */
  openingLines: string[];
  characters: Character[];
  /** points a message costs; undefined where the server does not say */
  pricePerMessage: number | undefined;
  conversationId: string | null;
  /** the reader saved it; undefined where the server does not say */
  isFavorite?: boolean;
  /** how far one has come in it; undefined where the server does not say */
  progress?: Progress;
}

export interface Progress {
  /** From 1, of so many. */
  scene: number;
  scenes: number;
  title: string;
  /** Titles of the endings reached, of so many; undefined where the server does not count them. */
  endings: string[];
  endingsCount: number | undefined;
}

function toProgress({ progress }: StoryDto): Progress | undefined {
  const { scene, scenes } = progress ?? {};
  if (!scene || !scenes || scene > scenes) return undefined;
  return {
    scene,
    scenes,
    title: progress?.title ?? '',
    endings: (progress?.endings ?? []).filter(Boolean),
    endingsCount: progress?.endings_count ?? undefined,
  };
}

/** One page of the feed as the cache keeps it. */
export type StoryPage = CursorPage<Story>;

const toCharacter = (dto: CharacterDto): Character => ({
  id: dto.id,
  name: dto.name || UNNAMED,
  avatarUrl: dto.avatar ?? '',
  intro: dto.intro ?? '',
});

export const toStory = (dto: StoryDto): Story => {
  const progress = toProgress(dto);
  const isFavorite = dto.is_favorite ?? undefined;
  return { ...toTold(dto), ...(isFavorite !== undefined && { isFavorite }), ...(progress && { progress }) };
};

const toTold = (dto: StoryDto): Story => ({
  id: dto.id,
  title: dto.title || UNTITLED,
  coverUrl: dto.cover_url ?? '',
  coverColor: dto.cover_color ?? undefined,
  summary: dto.summary ?? '',
  tags: dto.tags.filter(Boolean),
  authorName: dto.author?.name ?? '',
  opening: dto.opening ?? '',
  openingLines: (dto.opening_lines ?? []).filter(Boolean),
  characters: dto.characters.map(toCharacter),
  pricePerMessage: dto.price_per_message ?? undefined,
  conversationId: dto.conversation_id ?? null,
});

export const toStoryPage = ({ items, nextCursor }: CursorPage<StoryDto>): StoryPage => ({
  items: items.map(toStory),
  nextCursor,
});

/** How many stories 继续读 offers. */
export const RECENT = 3;

const LAST_LINE_CHARACTERS = 40;

/** One line of a message, without marks. */
export const lastLineOf = (body: string): string =>
  shorten(body.replaceAll('*', '').replace(/\s+/gu, ' ').trim(), LAST_LINE_CHARACTERS);

export const asRecent = ({ id, title, coverUrl, coverColor }: Story, conversationId: string): RecentStory => ({
  id,
  conversationId,
  title,
  coverUrl,
  coverColor,
});

const lastChange = ({ updated_at, last_message, created_at }: ConversationDto): string =>
  updated_at ?? last_message?.created_at ?? created_at ?? '';

/** The stories of the conversations, newest first, whichever the reader has put first; each with its present run. One whose story is gone has nothing to show. */
export const toRecent = ({ items }: CursorPage<ConversationDto>): RecentStory[] =>
  [...items]
    .sort((one, other) => (lastChange(one) < lastChange(other) ? 1 : lastChange(one) > lastChange(other) ? -1 : 0))
    .flatMap(({ id, story, last_message, unread, shelved }) =>
      story && !shelved
        ? [
            {
              id: story.id,
              conversationId: id,
              title: story.title || UNTITLED,
              coverUrl: story.cover_url ?? '',
              coverColor: story.cover_color ?? undefined,
              lastLine: lastLineOf(last_message?.excerpt ?? ''),
              isUnread: unread ?? false,
            },
          ]
        : [],
    );

/** The shelf with a story at its head that was not begun yet. */
export function withFreshLead(stories: Story[], begun: ReadonlySet<string>): Story[] {
  const lead = stories.find(({ id, conversationId }) => conversationId === null && !begun.has(id));
  return lead && lead !== stories[0] ? [lead, ...stories.filter((story) => story !== lead)] : stories;
}

/** Stories of all pages in order, each once, because a moving feed or a bad cursor repeats some. */
export function storiesOf(pages: StoryPage[]): Story[] {
  const byId = new Map<string, Story>();
  for (const page of pages) for (const story of page.items) if (!byId.has(story.id)) byId.set(story.id, story);
  return [...byId.values()];
}

/** The page that stands for the list without a network: an empty one before others does not. */
export const firstListed = (pages: StoryPage[]): Story[] | undefined =>
  pages.find(({ items, nextCursor }) => items.length > 0 || nextCursor === null)?.items;

/** Stories of the newest page that the shown feed does not have yet. */
export function unseenIn(shown: StoryPage[], newest: StoryPage): Story[] {
  const shownIds = new Set(storiesOf(shown).map((story) => story.id));
  return newest.items.filter((story) => !shownIds.has(story.id));
}

/** True when nothing of the newest page is shown, so that stories between the two are missing. */
export const hasGap = (shown: StoryPage[], newest: StoryPage): boolean =>
  newest.items.length > 0 && unseenIn(shown, newest).length === newest.items.length;

/** Puts unseen stories on top and renews known ones in their places; over a gap the newest page restarts the feed. */
export function withNewest(shown: StoryPage[], newest: StoryPage): StoryPage[] {
  if (hasGap(shown, newest)) return [newest];
  const renewed = new Map(newest.items.map((story) => [story.id, story]));
  const unseen = unseenIn(shown, newest);
  return shown.map((page, index) => ({
    ...page,
    items: [...(index === 0 ? unseen : []), ...page.items.map((story) => renewed.get(story.id) ?? story)],
  }));
}

/** What is looked for on the shelf, as its address tells it: `/explore?q=…&tag=…&sort=…`. */
export interface StorySearch {
  q: string;
  tag: string;
  /** `new` is how the shelf stands anyway */
  sort: 'new' | 'hot';
}

/** As many characters as a server takes. */
export const SEARCH_CHARACTERS = 60;

const clipped = (text: string | null) => [...(text ?? '')].slice(0, SEARCH_CHARACTERS).join('');

/** null for the plain shelf; an empty `q` is a search in which nothing was typed yet. */
export function searchAt(params: URLSearchParams): StorySearch | null {
  if (!['q', 'tag', 'sort'].some((name) => params.has(name))) return null;
  const sort = params.get('sort') === 'hot' ? 'hot' : 'new';
  return { q: clipped(params.get('q')), tag: clipped(params.get('tag')), sort };
}

/** What a server is asked with: nothing that means nothing. */
export const searchParams = ({ q, tag, sort }: StorySearch): Record<string, string> => ({
  ...(q.trim() && { q: q.trim() }),
  ...(tag && { tag }),
  ...(sort === 'hot' && { sort }),
});

/** The address of a search; it stays one with nothing in it. */
export function searchPath(search: Partial<StorySearch>): string {
  const given = new URLSearchParams(searchParams({ q: '', tag: '', sort: 'new', ...search }));
  return `${paths.explore()}?${given.size > 0 ? given : 'q='}`;
}

const TAGS_OFFERED = 12;

/** The tags that most of these stories have; of equals the ones that come first. */
export function commonTags(stories: Story[]): string[] {
  const counts = new Map<string, number>();
  for (const { tags } of stories) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, TAGS_OFFERED)
    .map(([tag]) => tag);
}

/** What a card shows, without the story's page. */
export const withoutBooks = (pages: StoryPage[]): StoryPage[] =>
  pages.map((page) => ({
    ...page,
    items: page.items.map((story) => ({ ...story, opening: '', openingLines: [], characters: [] })),
  }));
