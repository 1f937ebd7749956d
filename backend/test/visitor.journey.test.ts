import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@rstest/core';
import { rules } from '../src/rules.ts';
import { seedStories } from '../src/seeding.ts';
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
    for (const path of [body.data.cover_url ?? '', ...body.data.characters.map(({ avatar }) => avatar)]) {
      const picture = await fetch(backend.url + path);
      expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
      expect(picture.headers.get('cache-control')).toContain('immutable');
    }
  });
});

describe('what a link to a story shows where it is shared', () => {
  /** Width and height as a PNG's header tells them. */
  const sizeOf = (png: Buffer) => [png.toString('latin1', 1, 4), png.readUInt32BE(16), png.readUInt32BE(20)];

  async function shareImage(id: string) {
    const { body } = await backend.client().get<{ data: StoryDto }>(`/stories/${id}`);
    const answer = await fetch(backend.url + body.data.share_image_url);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(answer.headers.get('cache-control')).toContain('immutable');
    return Buffer.from(await answer.arrayBuffer());
  }

  test('is a bitmap of its own cover', async () => {
    const [one, other] = [await shareImage(story), await shareImage('hua-pi')];
    expect(sizeOf(one)).toEqual(['PNG', 1200, 630]);
    expect(one.equals(other)).toBe(false);
  });

  test('is its title where it has no picture, and nothing of ours where its picture is elsewhere', async () => {
    const file = join(backend.dataDir, 'bare.json');
    const stories = [
      { id: 'bare', title: '没有画的 <故事> & 一个很长很长很长的名字', cover_url: '' },
      { id: 'bare-2', title: '夜渡', cover_url: '' },
      { id: 'elsewhere', title: '别处', cover_url: 'https://pictures.example/1.jpg' },
    ];
    writeFileSync(file, JSON.stringify(stories));
    seedStories(backend.services, file);
    const [one, other] = [await shareImage('bare'), await shareImage('bare-2')];
    expect(sizeOf(one)).toEqual(['PNG', 1200, 630]);
    expect(one.equals(other)).toBe(false);
    const { body } = await backend.client().get<{ data: StoryDto }>('/stories/bare');
    expect(body.data.cover_url).toBeNull();
    const elsewhere = await backend.client().get<{ data: StoryDto }>('/stories/elsewhere');
    expect(elsewhere.body.data.share_image_url).toBeNull();
    expect((await fetch(`${backend.url}/api/media/share/elsewhere.png`)).status).toBe(404);
  });
});
