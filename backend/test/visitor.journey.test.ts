import { describe, expect, test } from '@rstest/core';
import { rules } from '../src/rules.ts';
import { openBackend } from './testBackend.ts';
import type { Page, StoryDto } from './wire.ts';

const backend = await openBackend();
const story = 'nie-xiaoqian';

describe('a visitor', () => {
  test('pages through the feed to its end, without doubles', async () => {
    const visitor = backend.client();
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body }: { body: Page<StoryDto> } = await visitor.get(`/stories?cursor=${cursor}`);
      seen.push(...body.data.map(({ id }) => id));
      cursor = body.meta.next_cursor;
    }
    expect(seen.length).toBeGreaterThanOrEqual(28);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('gets the first page for a cursor that is none', async () => {
    const visitor = backend.client();
    const first = await visitor.get<Page<StoryDto>>('/stories');
    const odd = await visitor.get<Page<StoryDto>>('/stories?cursor=%00nonsense');
    expect(odd.body.data).toEqual(first.body.data);
    expect(first.body.data).toHaveLength(20);
  });

  test('opens a story with its cover and portraits, and no conversation', async () => {
    const visitor = backend.client();
    const { body } = await visitor.get<{ data: StoryDto }>(`/stories/${story}`);
    expect(body.data).toMatchObject({
      title: '聂小倩',
      price_per_message: rules.storyPrices.long,
      conversation_id: null,
    });
    for (const path of [body.data.cover_url, ...body.data.characters.map(({ avatar }) => avatar)]) {
      const picture = await fetch(backend.url + path);
      expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
      expect(picture.headers.get('cache-control')).toContain('immutable');
    }
    expect((await visitor.get('/stories/nobody')).status).toBe(404);
  });

  test('is asked to sign in by everything that is private', async () => {
    const visitor = await backend.client().fetchToken();
    const answers = await Promise.all([
      visitor.get('/user'),
      visitor.get('/conversations'),
      visitor.get('/transactions'),
      visitor.post('/check-in'),
      visitor.post('/logout'),
      visitor.say({ story_id: story }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401]);
  });
});
