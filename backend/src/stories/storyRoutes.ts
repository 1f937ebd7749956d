import { Hono } from 'hono';
import { query } from '../db/database.ts';
import { cursorPage, readCursor } from '../http/cursor.ts';
import { type AppEnv, type Http, isVerified } from '../http/http.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findStory, presentStory, type Story, storiesAfter } from './story.ts';

/** The public feed and the story page. */
export function storyRoutes(services: Services): Hono<AppEnv> {
  return new Hono<AppEnv>()
    .get('/', (c) => {
      const stories = storiesAfter(services, readCursor(c.req.query('cursor')), rules.pageSize + 1);
      const conversations = conversationsByStory(
        services,
        c,
        stories.map((story) => story.id),
      );
      const present = (story: Story) => presentStory(story, conversations.get(story.id) ?? null);
      return c.json(cursorPage(stories, c.req.path, ({ createdAt, id }) => ({ time: createdAt, id }), present));
    })
    .get('/:id', (c) => {
      const story = findStory(services, c.req.param('id'));
      const conversations = conversationsByStory(services, c, [story.id]);
      return c.json({ data: presentStory(story, conversations.get(story.id) ?? null) });
    });
}

/** The visitor's own conversations with these stories, by story. */
function conversationsByStory({ db }: Services, c: Http, storyIds: string[]): Map<string, string> {
  const user = c.get('identity')?.user;
  if (!user || !isVerified(user)) return new Map();
  const rows = query
    .selectFrom('conversations')
    .select(['id', 'story_id'])
    .where('user_id', '=', user.id)
    .where('story_id', 'in', storyIds);
  return new Map(db.all(rows).map((row) => [row.story_id, row.id]));
}
