import { isoTime } from '../clock.ts';
import { query } from '../db/database.ts';
import type { StoryRow } from '../db/schema.ts';
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

export function toStory(row: StoryRow): Story {
  const content: StoryContent = JSON.parse(row.content);
  const { id, title, price, cover_url: coverUrl, created_at: createdAt, updated_at: updatedAt } = row;
  return { id, title, price, coverUrl, createdAt, updatedAt, ...content };
}

/** Throws 404. */
export function findStory({ db }: Pick<Services, 'db'>, id: string): Story {
  const row = db.first(query.selectFrom('stories').selectAll().where('id', '=', id));
  if (!row) throw notFound('没有找到这个故事');
  return toStory(row);
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
