import { describe, expect, test } from '@rstest/core';
import { rules } from '../src/rules.ts';
import { openBackend } from './testBackend.ts';
import type { Page, StoryDto } from './wire.ts';

const backend = await openBackend();
const story = 'nie-xiaoqian';

describe('a visitor', () => {
  test('finds twenty stories on the first page of the feed, and more behind it', async () => {
    const { body } = await backend.client().get<Page<StoryDto>>('/stories');
    expect(body.data).toHaveLength(20);
    expect(body.meta.next_cursor).not.toBeNull();
  });

  test('opens a story with its cover and portraits, and no conversation', async () => {
    const visitor = backend.client();
    const { body } = await visitor.get<{ data: StoryDto }>(`/stories/${story}`);
    expect(body.data).toMatchObject({
      title: '聂小倩',
      cover_color: '#3a4d5e',
      price_per_message: rules.storyPrices.long,
      conversation_id: null,
    });
    for (const path of [body.data.cover_url, ...body.data.characters.map(({ avatar }) => avatar)]) {
      const picture = await fetch(backend.url + path);
      expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
      expect(picture.headers.get('cache-control')).toContain('immutable');
    }
  });
});
