import { expect, test } from '@rstest/core';
import { runStoryVisibility } from '../src/operator.ts';
import type { Client } from './client.ts';
import { openBackend } from './testBackend.ts';
import type { Page, StoryDto } from './wire.ts';

// Favorites belong to the reader's account.

const now = { at: Date.parse('2026-11-22T04:00:00Z') };
const backend = await openBackend({}, () => now.at);
const save = (reader: Client, id: string, favorite: boolean) => {
  now.at += 1_000;
  return reader.put(`/stories/${id}/favorite`, { favorite });
};
const saved = async (reader: Client, cursor = '') =>
  (await reader.get<Page<StoryDto>>(`/favorites${cursor && `?cursor=${cursor}`}`)).body;
const titles = async (reader: Client) => (await saved(reader)).data.map(({ title }) => title);

test('a saved story is listed, the latest first, until it is removed', async () => {
  const reader = await backend.reader();
  const other = await backend.reader();
  expect((await save(reader, 'hua-pi', true)).body).toEqual({ data: { id: 'hua-pi', is_favorite: true } });
  await save(reader, 'nie-xiaoqian', true);
  // saving it again does not change the order
  await save(reader, 'hua-pi', true);
  expect(await titles(reader)).toEqual(['聂小倩', '画皮']);
  expect(await titles(other)).toEqual([]);
  const story = async (client: Client) =>
    (await client.get<{ data: { is_favorite: boolean } }>('/stories/hua-pi')).body.data.is_favorite;
  expect([await story(reader), await story(other), await story(backend.client())]).toEqual([true, false, false]);
  expect((await save(reader, 'hua-pi', false)).status).toBe(200);
  expect((await save(reader, 'hua-pi', false)).status).toBe(200);
  expect(await titles(reader)).toEqual(['聂小倩']);
});

test('saving is refused to guests, for missing stories and with an invalid body', async () => {
  const guest = await backend.client().fetchToken();
  expect((await guest.put('/stories/hua-pi/favorite', { favorite: true })).status).toBe(401);
  expect((await guest.get('/favorites')).status).toBe(401);
  const reader = await backend.reader();
  expect((await reader.put('/stories/no-such-story/favorite', { favorite: true })).status).toBe(404);
  for (const body of [{}, { favorite: 'yes' }, { favorite: null }])
    expect((await reader.put('/stories/hua-pi/favorite', body)).status).toBe(422);
});

test('the list has pages and omits hidden stories', async () => {
  const reader = await backend.reader();
  const { data } = (await reader.get<Page<StoryDto>>('/stories')).body;
  const { body } = await reader.get<Page<StoryDto>>(
    `/stories?cursor=${(await reader.get<Page<StoryDto>>('/stories')).body.meta.next_cursor}`,
  );
  const ids = [...data, ...body.data].map(({ id }) => id);
  for (const id of ids) await save(reader, id, true);
  const first = await saved(reader);
  const second = await saved(reader, first.meta.next_cursor ?? '');
  expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids.toReversed());
  expect([first.data.length, second.meta.next_cursor]).toEqual([20, null]);
  runStoryVisibility(backend.services, ['hide', ids.at(-1) ?? '']);
  expect((await saved(reader)).data[0]?.id).toBe(ids.at(-2));
  expect((await save(reader, ids.at(-1) ?? '', true)).status).toBe(404);
  runStoryVisibility(backend.services, ['show', ids.at(-1) ?? '']);
});
