import { describe, expect, test } from '@rstest/core';
import type { Client } from './client.ts';
import { openBackend } from './testBackend.ts';
import type { ConversationDto, Page, StoryDto } from './wire.ts';

const backend = await openBackend();
const story = 'jiao-na';

/** Creates a reader whose first run of the story has a line and its reply. */
async function readerInFirstRun() {
  const reader = await backend.reader();
  const { body } = await reader.say({ story_id: story, body: '先生是谁？' });
  await backend.settled();
  return { reader, first: body.conversation.id };
}

const runs = async (reader: Client) =>
  (await reader.get<Page<ConversationDto>>(`/conversations?story_id=${story}`)).body.data;

const currentOf = async (reader: Client) =>
  (await reader.get<{ data: StoryDto }>(`/stories/${story}`)).body.data.conversation_id;

describe('several runs of one story', () => {
  test('exist side by side; a new one begins with the first message after one was shelved', async () => {
    const { reader, first } = await readerInFirstRun();
    const { body } = await reader.put<{ data: ConversationDto }>(`/conversations/${first}`, { shelved: true });
    expect(body.data).toMatchObject({ id: first, run: 1, shelved: true });
    expect((await reader.latest({ story_id: story })).meta.conversation_id).toBeNull();
    expect(await currentOf(reader)).toBeNull();

    const { body: sent } = await reader.say({ story_id: story, body: '这一回我不进门。' });
    await backend.settled();
    expect(sent.conversation).toMatchObject({ run: 2, shelved: false });
    expect(sent.message).toMatchObject({ seq: 1 });
    expect((await runs(reader)).map(({ run, shelved }) => [run, shelved])).toEqual([
      [2, false],
      [1, true],
    ]);
    expect((await reader.latest({ conversation_id: first })).data.map(({ body: words }) => words)[0]).toBe(
      '先生是谁？',
    );
  });

  test('are swapped when a shelved one is resumed or receives a message', async () => {
    const { reader, first } = await readerInFirstRun();
    await reader.put(`/conversations/${first}`, { shelved: true });
    const second = (await reader.say({ story_id: story, body: '你好' })).body.conversation.id;
    await backend.settled();

    await reader.put(`/conversations/${first}`, { shelved: false });
    expect(await currentOf(reader)).toBe(first);
    await reader.say({ conversation_id: second, body: '又是我' });
    await backend.settled();
    expect(await currentOf(reader)).toBe(second);
    expect((await runs(reader)).filter(({ shelved }) => shelved).map(({ id }) => id)).toEqual([first]);
  });

  test('can be shelved during a reply, which ends in its run', async () => {
    const { reader, first } = await readerInFirstRun();
    await reader.say({ story_id: story, body: '你究竟是谁？' });
    await reader.put(`/conversations/${first}`, { shelved: true });
    await backend.settled();
    expect(await currentOf(reader)).toBeNull();
    const { data } = await reader.latest({ conversation_id: first });
    expect(data.at(-1)).toMatchObject({ role: 'assistant', status: 'completed', seq: 4 });
  });
});
