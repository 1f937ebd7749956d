import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@rstest/core';
import type { Client } from './client.ts';
import { openBackend } from './testBackend.ts';
import type { MessageDto, Page } from './wire.ts';

// The built-in storyteller through the API: no action on a reply may lose the progress of the story.

const backend = await openBackend();
const story = 'nie-xiaoqian';

async function lastReply(reader: Client): Promise<MessageDto> {
  const { body } = await reader.get<Page<MessageDto>>(`/messages/latest?story_id=${story}`);
  const last = body.data.at(-1);
  if (!last) throw new Error('no reply');
  return last;
}

async function say(reader: Client, body: string): Promise<MessageDto> {
  expect((await reader.say({ story_id: story, body })).status).toBe(201);
  await backend.settled();
  return lastReply(reader);
}

const order = (reader: Client, path: string, form: object = {}) =>
  reader.post<{ errors?: Record<string, string[]> }>(path, { ...form, client_id: randomUUID() });

const way = ['金子你收回去，我不要', '我今夜就去同燕先生同住', '请先生饶她，她救过我', '我掘骨，带你一同走'];

describe('a reader’s place in the story', () => {
  test('does not change when the latest reply is retold, chosen or continued', async () => {
    const reader = await backend.reader();
    const first = await say(reader, way[0] ?? '');
    await order(reader, `/messages/${first.id}/regenerate`);
    await backend.settled();
    const retold = await lastReply(reader);
    expect(retold.body).not.toBe(first.body);
    await order(reader, '/messages/continue', { conversation_id: first.conversation_id });
    await backend.settled();
    expect((await lastReply(reader)).body).toContain('她摊开手');
    await reader.post(`/messages/${first.id}/variant`, { variant: 1 });
    expect((await say(reader, '你为什么肯告诉我？')).body).toContain('脚边有没有影子');
  });

  test('is part of the story: current scene, number of scenes, and reached endings', async () => {
    const reader = await backend.reader();
    const place = async () =>
      (await reader.get<{ data: { progress: object | null } }>(`/stories/${story}`)).body.data.progress;
    expect(await place()).toBeNull();
    const before = { scenes: backend.services.content.stories.find(({ id }) => id === story)?.plot?.scenes.length };
    await say(reader, way[2] ?? '');
    expect(await place()).toMatchObject({ ...before, scene: 1, endings: [] });
    await say(reader, way[0] ?? '');
    expect(await place()).toMatchObject({ ...before, scene: 2, endings: [] });
    for (const line of [...way.slice(1), '你就做我的妹妹', '革囊在这里，挂到门头上', '抱紧她，不出声，等革囊'])
      await say(reader, line);
    const { endings, ...end } = (await place()) as { endings: string[]; title: string; scene: number };
    expect(end.scene).toBe(before.scenes);
    expect(endings).toEqual([end.title]);
    const { conversation_id: first } = await lastReply(reader);
    await reader.put(`/conversations/${first}`, { shelved: true });
    await say(reader, way[2] ?? '');
    expect(await place(), 'another run').toMatchObject({ scene: 1, endings });
    expect(
      (await backend.client().get<{ data: { progress: object | null } }>(`/stories/${story}`)).body.data.progress,
    ).toBeNull();
  });

  test('returns to an earlier scene with an edited message', async () => {
    const reader = await backend.reader();
    await say(reader, way[0] ?? '');
    await say(reader, way[1] ?? '');
    const { body } = await reader.get<Page<MessageDto>>(`/messages/latest?story_id=${story}`);
    await order(reader, `/messages/${body.data[0]?.id}/edit`, { body: '那老妇人是什么来历？' });
    await backend.settled();
    expect((await lastReply(reader)).body).toContain('她把食指竖在唇上');
    expect((await say(reader, way[0] ?? '')).body).toContain('你是头一个说‘不’的人');
  });

  test('is kept beyond the messages in the prompt', async () => {
    const reader = await backend.reader();
    await say(reader, way[0] ?? '');
    for (let turn = 0; turn < 20; turn += 1) await say(reader, '我不愿意');
    expect((await say(reader, way[1] ?? '')).body).toContain('旧箱');
  });

  test('ends; continuing is then refused, and 灵感 are free', async () => {
    const reader = await backend.reader();
    for (const line of [...way, '你就做我的妹妹', '革囊在这里，挂到门头上']) await say(reader, line);
    const ending = await say(reader, '抱紧她，不出声，等革囊');
    expect(ending.body).toContain('全文完');
    const balance = async () => (await reader.get<{ data: { balance: number } }>('/user')).body.data.balance;
    const before = await balance();
    const refused = await order(reader, '/messages/continue', { conversation_id: ending.conversation_id });
    expect(refused.status).toBe(422);
    expect(refused.body.errors?.message_id?.[0]).toContain('换一种走向');
    const ideas = await order(reader, '/messages/suggestion', { conversation_id: ending.conversation_id });
    expect(ideas.status).toBe(202);
    await backend.settled();
    expect(await balance()).toBe(before);
    expect((await say(reader, '换一种走向')).body).toContain('岔路口');
  });
});
