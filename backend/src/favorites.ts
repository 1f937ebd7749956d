import { sql } from 'kysely';
import { query } from './db/database.ts';
import type { Position } from './http/input.ts';
import type { Services } from './services.ts';

const favoriteQuery = (userId: string, storyId: string) =>
  query.selectFrom('favorites').selectAll().where('user_id', '=', userId).where('story_id', '=', storyId);

export const isFavorite = ({ db }: Services, userId: string, storyId: string): boolean =>
  db.first(favoriteQuery(userId, storyId)) !== undefined;

/** Adds or removes a favorite. Idempotent. */
export function setFavorite({ db, clock }: Services, userId: string, storyId: string, shouldExist: boolean): void {
  if (shouldExist) {
    const row = { user_id: userId, story_id: storyId, created_at: clock() };
    db.run(
      query
        .insertInto('favorites')
        .values(row)
        .onConflict((conflict) => conflict.doNothing()),
    );
  } else {
    db.run(query.deleteFrom('favorites').where('user_id', '=', userId).where('story_id', '=', storyId));
  }
}

/** Returns up to `count` favorites after a position, the latest first. Hidden stories are left out. */
export function favoritesAfter({ db }: Services, userId: string, after: Position | null, count: number) {
  let rows = query
    .selectFrom('favorites')
    .innerJoin('stories', 'stories.id', 'favorites.story_id')
    .select(['favorites.story_id', 'favorites.created_at'])
    .where('favorites.user_id', '=', userId)
    .where('stories.hidden', '=', 0)
    .orderBy('favorites.created_at', 'desc')
    .orderBy('favorites.story_id', 'desc')
    .limit(count);
  if (after) rows = rows.where(sql<boolean>`(favorites.created_at, favorites.story_id) < (${after.time}, ${after.id})`);
  return db.all(rows);
}
