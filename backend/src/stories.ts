import { Hono } from 'hono';
import { sql } from 'kysely';
import * as v from 'valibot';
import { initialProgress, offeredLines } from './ai/progress.ts';
import { isoTime } from './clock.ts';
import type { PublishedStory, StoryContent } from './content/content.ts';
import { shareImageUrl } from './content/shareImageUrl.ts';
import { type Db, query } from './db/database.ts';
import type { StoryRow } from './db/schema.ts';
import { type AppEnv, type Http, isVerified, notFound, userOf, writingUser } from './http/http.ts';
import { cursorPage, type Position, readCursor, readInput, readPage, text, validate } from './http/input.ts';
import type { Prices } from './prices.ts';
import { rules } from './rules.ts';
import type { Services } from './services.ts';

export interface Story extends StoryContent {
  id: string;
  title: string;
  coverUrl: string;
  price: number;
  createdAt: number;
  updatedAt: number;
}

function toStory(row: StoryRow): Story {
  const content: StoryContent = JSON.parse(row.content);
  const { id, title, price, cover_url: coverUrl, created_at: createdAt, updated_at: updatedAt } = row;
  return { id, title, price, coverUrl, createdAt, updatedAt, ...content };
}

/**
 * Updates the stories in the database from the story folders. A story whose folder is missing or invalid is removed
 * from the feed. Its conversations can be continued.
 */
export function publishStories({ db, content, env }: Pick<Services, 'db' | 'content' | 'env'>): void {
  db.transaction(() => {
    for (const story of content.stories) publish(db, story, env.prices);
    const ids = content.stories.map(({ id }) => id);
    const withdrawal = query.updateTable('stories').set({ origin: 'withdrawn', updated_at: Date.now() });
    db.run(withdrawal.where('origin', '=', 'folder').where('id', 'not in', ids));
  });
}

function publish(
  db: Db,
  { id, title, coverUrl, length, published, ...content }: PublishedStory,
  { storyPrices }: Prices,
): void {
  const row = {
    title,
    cover_url: coverUrl,
    price: storyPrices[length],
    content: JSON.stringify(content satisfies StoryContent),
    origin: 'folder' as const,
    created_at: published,
    updated_at: published,
  };
  const columns = ['title', 'cover_url', 'price', 'content', 'origin', 'created_at'] as const;
  const isChanged = sql.join(
    columns.map((column) => sql`${sql.ref(`stories.${column}`)} is distinct from ${sql.ref(`excluded.${column}`)}`),
    sql` or `,
  );
  db.run(
    query
      .insertInto('stories')
      .values({ id, ...row })
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet({ ...row, updated_at: Date.now() })
          .where(sql<boolean>`${isChanged}`),
      ),
  );
}

const storyCaches = new WeakMap<Db, ReturnType<typeof readStories>>();

/** Returns the parsed stories, cached until the table changes. */
function storyCacheOf(db: Db) {
  const changeCount = db.find('changes', { subject: 'stories' })?.count ?? 0;
  const cached = storyCaches.get(db);
  if (cached?.changeCount === changeCount) return cached;
  const stories = readStories(db, changeCount);
  storyCaches.set(db, stories);
  return stories;
}

function readStories(db: Db, changeCount: number) {
  const rows = db.all(query.selectFrom('stories').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc'));
  const newestFirst = rows.filter(({ origin, hidden }) => origin !== 'withdrawn' && !hidden).map(toSearched);
  const byId = new Map(rows.map((row) => [row.id, toStory(row)]));
  const hiddenIds = new Set(rows.filter((row) => row.hidden).map(({ id }) => id));
  return { changeCount, newestFirst, byId, hiddenIds };
}

/** Returns a story, also a hidden one. Throws 404. */
export function findStory({ db }: Pick<Services, 'db'>, id: string): Story {
  const story = storyCacheOf(db).byId.get(id);
  if (!story) throw notFound('没有找到这个故事');
  return story;
}

/** Returns a story that readers may see. Throws 404, also for one that an operator hid. */
export function findShownStory(services: Pick<Services, 'db'>, id: string): Story {
  if (storyCacheOf(services.db).hiddenIds.has(id)) throw notFound('没有找到这个故事');
  return findStory(services, id);
}

/** Latin accents, but not the marks that change a Japanese or Indic letter. */
const ACCENTS = /[\u0300-\u036f]/g;

/** Normalizes words for a search, without width, case and accents, like 查找 of the page. */
export const normalizeForSearch = (words: string): string =>
  words.normalize('NFKD').replace(ACCENTS, '').toLowerCase().toUpperCase().normalize('NFKC');

/** Returns a story with its searched texts: the title; the title with names and tags; all of these with the summary. */
function toSearched(row: StoryRow) {
  const story = toStory(row);
  const tags = story.tags.map(normalizeForSearch);
  const title = normalizeForSearch(story.title);
  const names = [
    title,
    ...tags,
    ...[story.author, ...story.characters].map(({ name }) => normalizeForSearch(name)),
  ].join('\n');
  return { story, tags, texts: [title, names, `${names}\n${normalizeForSearch(story.summary)}`] };
}

const searchInput = v.object({
  q: v.optional(text(0, rules.searchCharacters), ''),
  tag: v.optional(text(0, rules.searchCharacters), ''),
  sort: v.optional(v.picklist(['new', 'hot']), 'new'),
});

type StorySearch = v.InferOutput<typeof searchInput>;

/** Ranks the place of a hit above any number of readers. The sum stays a safe integer. */
const FIELD_WEIGHT = 1e12;

/** Returns the number of readers of the most read stories, by story id. */
function countReaders({ db }: Pick<Services, 'db'>): Map<string, number> {
  const rows = query
    .selectFrom('story_readers')
    .select(['story_id', 'count'])
    .where('count', '>', 0)
    .orderBy('count', 'desc')
    .orderBy('story_id')
    .limit(rules.hotStories);
  return new Map(db.all(rows).map(({ story_id, count }) => [story_id, count]));
}

interface Hit {
  story: Story;
  weight: number;
}

/** Returns the hits sorted by place of the words, then by readers for `hot`, then by age. In the plain feed only age counts. */
function findStories(services: Pick<Services, 'db'>, search: StorySearch): Hit[] {
  const { newestFirst } = storyCacheOf(services.db);
  if (isPlainFeed(search)) return newestFirst.map(({ story }) => ({ story, weight: story.createdAt }));
  const words = normalizeForSearch(search.q).split(/\s+/).filter(Boolean);
  const requestedTag = normalizeForSearch(search.tag);
  const readers = search.sort === 'hot' ? countReaders(services) : new Map<string, number>();
  const hits: Hit[] = [];
  for (const { story, tags, texts } of newestFirst) {
    const fieldIndex = texts.findIndex((text) => words.every((word) => text.includes(word)));
    if (fieldIndex < 0 || (requestedTag && !tags.includes(requestedTag))) continue;
    const weight =
      (texts.length - 1 - fieldIndex) * FIELD_WEIGHT + Math.min(readers.get(story.id) ?? 0, FIELD_WEIGHT - 1);
    hits.push({ story, weight });
  }
  // the stable sort leaves hits of equal weight in the order of their age
  return hits.sort((one, other) => other.weight - one.weight);
}

const isPlainFeed = ({ q, tag, sort }: StorySearch): boolean => !q && !tag && sort === 'new';

/** Returns a page of hits after a position, whose time is a weight. A deleted story counts as the newest of it. */
function pageOfHits(services: Pick<Services, 'db'>, search: StorySearch, position: Position | null): Hit[] {
  const last = position && storyCacheOf(services.db).byId.get(position.id);
  const isOlder = ({ createdAt, id }: Story) =>
    !last || createdAt < last.createdAt || (createdAt === last.createdAt && id < last.id);
  return findStories(services, search)
    .filter(({ story, weight }) => !position || weight < position.time || (weight === position.time && isOlder(story)))
    .slice(0, rules.pageSize + 1);
}

/** Adds or removes a favorite. Idempotent. */
function setFavorite({ db, clock }: Services, userId: string, storyId: string, shouldExist: boolean): void {
  if (shouldExist) {
    const row = query.insertInto('favorites').values({ user_id: userId, story_id: storyId, created_at: clock() });
    db.run(row.onConflict((conflict) => conflict.doNothing()));
  } else {
    db.run(query.deleteFrom('favorites').where('user_id', '=', userId).where('story_id', '=', storyId));
  }
}

/** Selects a reader's favorites. Hidden stories are left out. */
const favoritesOf = (userId: string) =>
  query
    .selectFrom('favorites')
    .innerJoin('stories', 'stories.id', 'favorites.story_id')
    .select(['favorites.story_id', 'favorites.created_at'])
    .where('favorites.user_id', '=', userId)
    .where('stories.hidden', '=', 0);

/** Returns the lines for the first message; empty for a story without a plot. */
const openingLines = ({ plot }: Story): string[] =>
  plot ? offeredLines(plot, initialProgress(plot)).slice(0, rules.openingLines) : [];

/** Returns stories in the shape of the API, each with the reader's current conversation. */
function presentStories(services: Services, c: Http, stories: Story[]) {
  const conversations = conversationsByStory(services, c, stories);
  return stories.map((story) => ({
    id: story.id,
    title: story.title,
    cover_url: story.coverUrl || null,
    cover_color: story.coverColor ?? null,
    share_image_url: shareImageUrl(services.content, story),
    summary: story.summary,
    tags: story.tags,
    author: story.author,
    opening: story.opening,
    opening_lines: openingLines(story),
    characters: story.characters,
    price_per_message: story.price,
    conversation_id: conversations.get(story.id) ?? null,
    created_at: isoTime(story.createdAt),
    updated_at: isoTime(story.updatedAt),
  }));
}

/** Routes of the public feed and the story page, which includes a signed-in reader's progress. */
export function storyRoutes(
  services: Services,
  progressOf: (services: Services, conversationId: string) => object | null,
): Hono<AppEnv> {
  return new Hono<AppEnv>()
    .get('/', (c) => {
      const search = validate(searchInput, c.req.query());
      const hits = pageOfHits(services, search, readCursor(c.req.query('cursor')));
      const storyOf = ({ story }: Hit) => story;
      const present = (shownHits: Hit[]) => presentStories(services, c, shownHits.map(storyOf));
      const positionOf = ({ story, weight }: Hit) => ({ time: weight, id: story.id });
      return c.json(cursorPage(hits, c.req.path, positionOf, present, isPlainFeed(search) ? {} : search));
    })
    .get('/:id', (c) => {
      const story = findShownStory(services, c.req.param('id'));
      const [presented] = presentStories(services, c, [story]);
      const conversation = presented?.conversation_id ?? null;
      const progress = conversation === null ? null : progressOf(services, conversation);
      const user = readerOf(c);
      const favorite = user && services.db.find('favorites', { user_id: user.id, story_id: story.id });
      return c.json({ data: { ...presented, progress, is_favorite: favorite !== undefined } });
    })
    .put('/:id/favorite', (c) => {
      const user = writingUser(c, services);
      const { favorite } = validate(favoriteForm, readInput(c));
      const { id } = findShownStory(services, c.req.param('id'));
      setFavorite(services, user.id, id, favorite);
      return c.json({ data: { id, is_favorite: favorite } });
    });
}

const favoriteForm = v.object({ favorite: v.boolean() });

export const favoriteRoutes = (services: Services): Hono<AppEnv> =>
  new Hono<AppEnv>().get('/', (c) => {
    const storyOf = (row: { story_id: string }) => findStory(services, row.story_id);
    const present = (rows: { story_id: string }[]) => presentStories(services, c, rows.map(storyOf));
    return c.json(readPage(c, services, favoritesOf(userOf(c).id), ['created_at', 'story_id'], present));
  });

/** Returns the user if signed in and confirmed. */
function readerOf(c: Http) {
  const user = c.get('identity')?.user;
  return user && isVerified(user) ? user : undefined;
}

/** Returns the ids of the reader's current conversations with these stories, by story id. */
function conversationsByStory({ db }: Services, c: Http, stories: Story[]): Map<string, string> {
  const user = readerOf(c);
  const storyIds = stories.map(({ id }) => id);
  if (!user || storyIds.length === 0) return new Map();
  const rows = query
    .selectFrom('conversations')
    .select(['id', 'story_id'])
    .where('user_id', '=', user.id)
    .where('story_id', 'in', storyIds)
    .where('shelved', '=', 0);
  return new Map(db.all(rows).map((row) => [row.story_id, row.id]));
}
