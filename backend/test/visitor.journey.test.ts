import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@rstest/core';
import { defaultPrices } from '../src/prices.ts';
import { seedStories } from '../src/seeding.ts';
import { openBackend } from './testBackend.ts';
import type { Page, StoryDto } from './wire.ts';

const backend = await openBackend();
const story = 'nie-xiaoqian';

describe('a visitor', () => {
  test('sees twenty stories on the first page of the feed, and more after it', async () => {
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
      price_per_message: defaultPrices.storyPrices.long,
      conversation_id: null,
    });
    for (const path of [body.data.cover_url ?? '', ...body.data.characters.map(({ avatar }) => avatar)]) {
      const picture = await fetch(backend.url + path);
      expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
      expect(picture.headers.get('cache-control')).toContain('immutable');
    }
  });

  test('can begin each of our stories with one of three messages, each with its own answer', async () => {
    const visitor = backend.client();
    for (const { id, plot } of backend.services.content.stories) {
      const { body } = await visitor.get<{ data: StoryDto }>(`/stories/${id}`);
      const answered = plot?.scenes[0]?.replies.map(({ line }) => line) ?? [];
      expect([id, body.data.opening_lines.length]).toEqual([id, 3]);
      expect(answered).toEqual(expect.arrayContaining(body.data.opening_lines));
    }
  });
});

describe('the search for stories', () => {
  interface Seeded {
    id: string;
    title: string;
    summary?: string;
    tags?: string[];
    characters?: { id: string; name: string; avatar: string; intro: string }[];
  }

  /** Adds the stories, newest first. */
  function publish(name: string, stories: Seeded[]) {
    const file = join(backend.dataDir, `${name}.json`);
    writeFileSync(file, JSON.stringify(stories));
    seedStories(backend.services, file);
  }

  const found = async (search: string) => {
    const { status, body } = await backend.client().get<Page<StoryDto>>(`/stories?${search}`);
    expect(status).toBe(200);
    return body.data.map(({ id }) => id);
  };

  test('finds words in title, names, tags and summary regardless of width, case and accents, titles first', async () => {
    publish('words', [
      { id: 'w-summary', title: '第四则', summary: '灯下读完一页 Ｍｏｏｎ' },
      { id: 'w-tag', title: '第三则', tags: ['moon'] },
      { id: 'w-name', title: '第二则', characters: [{ id: 'c', name: 'Moon 阿灯', avatar: '', intro: '' }] },
      { id: 'w-title', title: 'MOON 记' },
    ]);
    expect(await found('q=moon')).toEqual(['w-title', 'w-tag', 'w-name', 'w-summary']);
    expect(await found(`q=${encodeURIComponent('MÓÓN')}`)).toHaveLength(4);
    expect(await found(`q=${encodeURIComponent('moon 阿灯')}`)).toEqual(['w-name']);
    expect(await found(`q=${encodeURIComponent('100% _')}`)).toEqual([]);
  });

  test('matches whole tags only, and combines tags with words', async () => {
    publish('tags', [
      { id: 't-3', title: '白昼', tags: ['渡口'] },
      { id: 't-2', title: '夜渡乙', tags: ['渡口'] },
      { id: 't-1', title: '夜渡甲', tags: ['渡口灯'] },
    ]);
    const tag = `tag=${encodeURIComponent('渡口')}`;
    expect(await found(tag)).toEqual(['t-3', 't-2']);
    expect(await found(`${tag}&q=${encodeURIComponent('夜渡')}`)).toEqual(['t-2']);
  });

  test('lists the most read stories first; a deleted conversation does not count', async () => {
    const ids = ['h-3', 'h-2', 'h-1'];
    publish(
      'hot',
      ids.map((id, day) => ({ id, title: id, tags: ['热不热'], created_at: `2033-01-0${day + 1}T00:00:00Z` })),
    );
    const hot = () => found(`sort=hot&tag=${encodeURIComponent('热不热')}`);
    const reader = await backend.reader();
    const { body } = await reader.say({ story_id: 'h-1' });
    expect(await hot()).toEqual(['h-1', 'h-3', 'h-2']);
    await backend.settled();
    await reader.delete(`/conversations/${body.conversation.id}`);
    expect(await hot()).toEqual(['h-3', 'h-2', 'h-1']);
  });

  test('counts a reader with several conversations once, until the last is deleted', async () => {
    const ids = ['r-3', 'r-2', 'r-1'];
    publish(
      'reread',
      ids.map((id, day) => ({ id, title: id, tags: ['重读'], created_at: `2033-01-0${3 - day}T00:00:00Z` })),
    );
    const hot = () => found(`sort=hot&tag=${encodeURIComponent('重读')}`);
    const [often, one, other] = [await backend.reader(), await backend.reader(), await backend.reader()];
    const conversations: string[] = [];
    for (let run = 0; run < 3; run += 1) {
      const { body } = await often.say({ story_id: 'r-1' });
      conversations.push(`/conversations/${body.conversation.id}`);
      await backend.settled();
      await often.put(conversations[run] ?? '', { shelved: true });
    }
    for (const reader of [one, other]) await reader.say({ story_id: 'r-2' });
    await backend.settled();
    expect(await hot()).toEqual(['r-2', 'r-1', 'r-3']);
    for (const conversation of conversations.slice(0, 2)) await often.delete(conversation);
    expect(await hot()).toEqual(['r-2', 'r-1', 'r-3']);
    await often.delete(conversations[2] ?? '');
    expect(await hot()).toEqual(['r-2', 'r-3', 'r-1']);
  });

  test.each(['new', 'hot'])('pages through all stories once, sorted by %s', async (sort) => {
    const count = 45;
    publish(
      'many',
      Array.from({ length: count }, (_, index) => ({ id: `m-${index}`, title: '渡船', tags: ['许多'] })),
    );
    const reader = await backend.reader();
    await reader.say({ story_id: 'm-30' });
    const seen: string[] = [];
    let next = `/stories?q=${encodeURIComponent('渡船')}&sort=${sort}`;
    while (next) {
      const { body } = await reader.get<Page<StoryDto>>(next);
      seen.push(...body.data.map(({ id }) => id));
      next = body.links.next?.replace(/^\/api\/v1/, '') ?? '';
    }
    expect([seen.length, new Set(seen).size]).toEqual([count, count]);
    expect(seen.indexOf('m-30') === 0).toBe(sort === 'hot');
  });

  test('refuses an invalid search with errors', async () => {
    const { status, body } = await backend.client().get<{ errors: object }>(`/stories?q=${'a'.repeat(61)}&sort=best`);
    expect([status, body.errors]).toEqual([422, { q: ['搜索内容不能超过 60 个字符'], sort: ['排序格式不正确'] }]);
  });
});

describe('the preview of a shared link to a story', () => {
  /** Returns format, width and height from a PNG's header. */
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

  test('is its title without a picture, and missing if its picture is on another site', async () => {
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

  test('sends a compressed cover to clients that accept it', async () => {
    const cover = `${backend.url}/api/media/covers/hua-pi.svg`;
    const answers = ['br', 'gzip', 'identity'].map((encoding) =>
      fetch(cover, { headers: { 'accept-encoding': encoding } }),
    );
    const [brotli, gzip, plain] = await Promise.all(answers);
    const encodings = [brotli, gzip, plain].map((answer) => answer?.headers.get('content-encoding'));
    expect(encodings).toEqual(['br', 'gzip', null]);
    const text = await plain?.text();
    expect(text).toContain('<svg');
    expect([await brotli?.text(), await gzip?.text()]).toEqual([text, text]);
  });
});
