import { sql } from 'kysely';
import { isoTime } from '../clock.ts';
import { type Db, query } from '../db/database.ts';
import type { StoryRow } from '../db/schema.ts';
import type { Position } from '../http/cursor.ts';
import { notFound } from '../http/httpError.ts';
import type { Services } from '../services.ts';

export interface Character {
  id: string;
  name: string;
  avatar: string;
  intro: string;
}

/** What the `content` column holds. */
export interface StoryContent {
  summary: string;
  tags: string[];
  author: { id: string; name: string; avatar: string };
  opening: string;
  characters: Character[];
}

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

interface Shelf {
  mark: string;
  newestFirst: Story[];
  byId: Map<string, Story>;
}

const shelves = new WeakMap<Db, Shelf>();

/** The stories are asked for most and change least, so they stay parsed until the table changes. */
function shelfOf(db: Db): Shelf {
  const count = sql<number>`count(*)`.as('count');
  const newest = sql<number>`max(updated_at)`.as('newest');
  const mark = JSON.stringify(db.first(query.selectFrom('stories').select([count, newest])));
  const known = shelves.get(db);
  if (known?.mark === mark) return known;
  const rows = db.all(query.selectFrom('stories').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc'));
  const newestFirst = rows.map(toStory);
  const shelf = { mark, newestFirst, byId: new Map(newestFirst.map((story) => [story.id, story])) };
  shelves.set(db, shelf);
  return shelf;
}

/** Throws 404. */
export function findStory({ db }: Pick<Services, 'db'>, id: string): Story {
  const story = shelfOf(db).byId.get(id);
  if (!story) throw notFound('没有找到这个故事');
  return story;
}

/** Up to `count` stories, newest first, after a position in that order. */
export function storiesAfter({ db }: Pick<Services, 'db'>, position: Position | null, count: number): Story[] {
  const { newestFirst } = shelfOf(db);
  const isAfter = ({ createdAt, id }: Story) =>
    !position || createdAt < position.time || (createdAt === position.time && id < position.id);
  const start = newestFirst.findIndex(isAfter);
  return start < 0 ? [] : newestFirst.slice(start, start + count);
}

/** The story as the API shows it. */
export function presentStory(story: Story, conversationId: string | null) {
  return {
    id: story.id,
    title: story.title,
    cover_url: story.coverUrl,
    summary: story.summary,
    tags: story.tags,
    author: story.author,
    opening: story.opening,
    characters: story.characters,
    price_per_message: story.price,
    conversation_id: conversationId,
    created_at: isoTime(story.createdAt),
    updated_at: isoTime(story.updatedAt),
  };
}
