import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { type Db, query } from '../db/database.ts';
import { rules } from '../rules.ts';
import type { StoryContent } from '../stories/story.ts';
import { coverSvg } from './drawing/cover.ts';
import type { Tale } from './tale.ts';
import { tales } from './tales/index.ts';

const byId = new Map(tales.map((tale) => [tale.id, tale]));

export const findTale = (id: string): Tale | undefined => byId.get(id);

const published = Date.UTC(2026, 0, 1);
const hourMs = 3_600_000;

/** Puts the built-in stories into the database, first one newest, and brings changed ones up to date. */
export function publishTales(db: Db): void {
  db.transaction(() => {
    for (const [index, tale] of tales.entries()) publish(db, tale, published - index * hourMs);
  });
}

function publish(db: Db, tale: Tale, time: number): void {
  const row = {
    title: tale.title,
    cover_url: coverUrl(tale),
    price: rules.storyPrices[tale.length],
    content: JSON.stringify(contentOf(tale)),
    created_at: time,
    updated_at: time,
  };
  db.run(
    query
      .insertInto('stories')
      .values({ id: tale.id, ...row })
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet({ ...row, updated_at: Date.now() })
          .where(
            sql<boolean>`stories.content != excluded.content or stories.cover_url != excluded.cover_url or stories.price != excluded.price`,
          ),
      ),
  );
}

/** Changes with the drawing, so that it may be kept for ever. */
function coverUrl(tale: Tale): string {
  const version = createHash('sha256')
    .update(coverSvg(tale.id) ?? '')
    .digest('hex')
    .slice(0, 8);
  return `/api/media/covers/${tale.id}.svg?v=${version}`;
}

function contentOf(tale: Tale): StoryContent {
  return {
    summary: tale.summary,
    tags: tale.tags,
    author: { id: 'pu-songling', name: '聊斋先生', avatar: '/api/media/avatars/inkstone.svg' },
    opening: tale.opening.join('\n\n'),
    characters: tale.characters.map(({ id, name, intro }) => ({
      id,
      name,
      intro,
      avatar: `/api/media/characters/${tale.id}-${id}.svg`,
    })),
  };
}
