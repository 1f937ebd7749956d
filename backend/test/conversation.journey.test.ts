import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@rstest/core';
import { describeReports } from '../src/chat/reports.ts';
import { defaultPrices } from '../src/prices.ts';
import { rules } from '../src/rules.ts';
import { openBackend } from './testBackend.ts';
import type { ConversationDto, MessageDto, Page, StoryDto, SuggestionDto, TransactionDto, UserDto } from './wire.ts';

let now = Date.parse('2026-03-01T10:00:00+08:00');
const backend = await openBackend({ STORYTELLER_IDLE_TIMEOUT_MS: '150' }, () => now);
const story = 'nie-xiaoqian';
const price = defaultPrices.storyPrices.long;

describe('a conversation', () => {
  test('begins with the first message, gets a reply and is listed', async () => {
    const reader = await backend.reader();
    const { status, body } = await reader.say({ story_id: story, body: '你是谁？' });
    expect(status).toBe(201);
    expect(body.message).toMatchObject({ role: 'user', body: '你是谁？', seq: 1, status: 'completed' });
    expect(body.reply).toMatchObject({ role: 'assistant', seq: 2, status: 'pending', cost: price });
    expect(body.balance).toBe(defaultPrices.signUpGift - price);
    await backend.settled();
    const { data, meta } = await reader.latest({ story_id: story });
    expect(data.map(({ seq, status: state }) => [seq, state])).toEqual([
      [1, 'completed'],
      [2, 'completed'],
    ]);
    expect(data[1]?.body).toMatch(/\*.+\*[\s\S]*“.+”/);
    expect(meta).toMatchObject({
      conversation_id: body.conversation.id,
      version: 3,
      last_seq: 2,
      active_message_id: null,
      has_more: false,
    });
    const { body: page } = await reader.get<Page<ConversationDto>>('/conversations');
    expect(page.data[0]).toMatchObject({
      id: body.conversation.id,
      story: { id: story, title: '聂小倩' },
      last_seq: 2,
    });
    expect((await reader.get<{ data: StoryDto }>(`/stories/${story}`)).body.data.conversation_id).toBe(
      body.conversation.id,
    );
  });

  test('keeps the partial text and refunds the price if the storyteller fails or stalls', async () => {
    for (const [word, code] of [
      ['咒语', 'storyteller_failed'],
      ['沉默', 'timeout'],
    ] as const) {
      const reader = await backend.reader();
      await reader.say({ story_id: story, body: word });
      await backend.settled();
      const { data } = await reader.latest({ story_id: story });
      expect(data[1]).toMatchObject({ status: 'failed', error: { code }, cost: 0 });
      expect(data[1]?.body.length).toBeGreaterThan(0);
      expect((await reader.get<{ data: UserDto }>('/user')).body.data.balance).toBe(defaultPrices.signUpGift);
    }
  });
});

describe('a conversation that has begun', () => {
  test('continues a failed reply in the same message with a new revision', async () => {
    const reader = await backend.reader();
    const { body } = await reader.say({ story_id: story, body: '咒语' });
    await backend.settled();
    const before = (await reader.latest({ story_id: story })).data[1];
    const again = await reader.post<{ message: MessageDto; balance: number }>('/messages/continue', {
      conversation_id: body.conversation.id,
      client_id: randomUUID(),
    });
    expect(again.status).toBe(202);
    expect(again.body.message).toMatchObject({ id: body.reply.id, revision: 2, status: 'pending', error: null });
    await backend.settled();
    const after = (await reader.latest({ story_id: story })).data[1];
    expect(after).toMatchObject({ status: 'completed', revision: 2, cost: defaultPrices.continuePrice });
    expect(after?.body.startsWith(before?.body ?? '?')).toBe(true);
    expect(after?.body.length).toBeGreaterThan(before?.body.length ?? 0);
  });

  test('offers suggestions that the reader can send', async () => {
    const reader = await backend.reader();
    const { body } = await reader.say({ story_id: story });
    await backend.settled();
    const order = async () => {
      const asked = await reader.post<{ data: SuggestionDto }>('/messages/suggestion', {
        conversation_id: body.conversation.id,
        count: 3,
        client_id: randomUUID(),
      });
      expect([asked.status, asked.body.data.status]).toEqual([202, 'pending']);
      await backend.settled();
      const ready = await reader.get<{ data: SuggestionDto }>(`/messages/suggestion/${asked.body.data.id}`);
      expect(ready.body.data).toMatchObject({ status: 'ready', error: null });
      expect(ready.body.data.items).toHaveLength(3);
      return ready.body.data;
    };
    const first = await order();
    for (const { text } of first.items) expect([...text].length).toBeLessThanOrEqual(20);
    // a second order for the same reply starts with lines that were not offered yet
    const second = await order();
    expect(first.items.map(({ text }) => text)).not.toContain(second.items[0]?.text);
    // a message references the suggestion, not one of its lines
    const taken = { story_id: story, body: first.items[0]?.text, client_id: randomUUID() };
    const byLine = await reader.post('/messages', { ...taken, suggestion_id: first.items[0]?.id });
    expect([byLine.status, byLine.body]).toMatchObject([422, { errors: { suggestion_id: ['灵感已失效'] } }]);
    expect((await reader.post('/messages', { ...taken, suggestion_id: first.id })).status).toBe(201);
    await backend.settled();
    now += rules.suggestionLifetimeSeconds * 1000;
    expect((await reader.get(`/messages/suggestion/${first.id}`)).status).toBe(410);
  });

  test('is deleted permanently, and its running reply is refunded', async () => {
    const reader = await backend.reader();
    const { body } = await reader.say({ story_id: story, body: '沉默' });
    expect((await reader.delete(`/conversations/${body.conversation.id}`)).status).toBe(204);
    expect((await reader.delete(`/conversations/${body.conversation.id}`)).status).toBe(404);
    expect((await reader.get<{ data: UserDto }>('/user')).body.data.balance).toBe(defaultPrices.signUpGift);
    const { body: ledger } = await reader.get<Page<TransactionDto>>('/transactions?type=refund');
    expect(ledger.data.map(({ amount }) => amount)).toEqual([price]);
    expect((await reader.latest({ story_id: story })).data).toEqual([]);
  });
});

describe('the list of conversations', () => {
  const others = ['hua-pi', 'ying-ning'];
  const withThree = async () => {
    const reader = await backend.reader();
    for (const story_id of [story, ...others]) {
      await reader.say({ story_id });
      await backend.settled();
      now += 1000;
    }
    const list = async (query = '') => (await reader.get<Page<ConversationDto>>(`/conversations${query}`)).body.data;
    const ids = async (query = '') => (await list(query)).map((each) => each.story.id);
    return { reader, list, ids };
  };

  test('marks conversations as unread until one device has shown the reply', async () => {
    const { reader, list } = await withThree();
    const counted = async () => (await reader.get<{ data: UserDto }>('/user')).body.data.unread_conversations;
    const [newest, older] = await list();
    expect((await list()).map(({ unread }) => unread)).toEqual([true, true, true]);
    expect(await counted()).toBe(3);
    const read = await reader.put<{ data: ConversationDto }>(`/conversations/${newest?.id}`, {
      read_version: newest?.version,
    });
    expect([read.status, read.body.data]).toMatchObject([200, { id: newest?.id, unread: false }]);
    expect((await list()).map(({ unread }) => unread)).toEqual([false, true, true]);
    expect(await counted()).toBe(2);
    // a lower version does not mark as unread, and a higher one does not mark future replies as read
    await reader.put(`/conversations/${newest?.id}`, { read_version: 0 });
    expect((await list())[0]?.unread).toBe(false);
    await reader.put(`/conversations/${newest?.id}`, { read_version: 9_000 });
    const said = await reader.say({ conversation_id: newest?.id ?? '' });
    expect(said.body.conversation).toMatchObject({ id: newest?.id, unread: false });
    await backend.settled();
    expect((await list())[0]).toMatchObject({ id: newest?.id, unread: true });
    expect(await counted()).toBe(3);
    const { meta } = await reader.latest({ conversation_id: newest?.id ?? '' });
    expect(meta).toMatchObject({ read_version: newest?.version });
    await reader.delete(`/conversations/${older?.id}`);
    await reader.post(`/conversations/${newest?.id}/restart`);
    expect(await counted()).toBe(1);
  });

  test('lists pinned conversations first', async () => {
    const { reader, list, ids } = await withThree();
    expect(await ids()).toEqual([others[1], others[0], story]);
    const oldest = (await list()).at(-1);
    await reader.put(`/conversations/${oldest?.id}`, { pinned: true });
    expect(await ids()).toEqual([story, others[1], others[0]]);
    const [pinned] = await list();
    expect([pinned?.version, Date.parse(pinned?.pinned_at ?? '')]).toEqual([oldest?.version, now]);
    now += 1000;
    await reader.put(`/conversations/${(await list()).at(-1)?.id}`, { pinned: true });
    expect(await ids()).toEqual([others[0], story, others[1]]);
    await reader.put(`/conversations/${oldest?.id}`, { pinned: false });
    expect(await ids()).toEqual([others[0], others[1], story]);
    const stranger = await backend.reader();
    expect((await stranger.put(`/conversations/${oldest?.id}`, { pinned: true })).status).toBe(404);
    expect((await reader.put(`/conversations/${oldest?.id}`, { pinned: 'ja' })).status).toBe(422);
  });

  test('is searched by title, character and last words, regardless of case and width', async () => {
    const { reader, ids } = await withThree();
    expect(await ids(`?q=${encodeURIComponent('画皮')}`)).toEqual(['hua-pi']);
    expect(await ids(`?q=${encodeURIComponent('燕赤霞')}`)).toEqual([story]);
    await reader.say({ story_id: story, body: '咒语' });
    await backend.settled();
    expect(await ids(`?q=${encodeURIComponent('从来没有人说过的话')}`)).toEqual([]);
    const last = (await reader.latest({ story_id: story })).data.at(-1)?.body.replace(/\*/g, '') ?? '';
    expect(await ids(`?q=${encodeURIComponent(last.slice(0, 6))}`)).toContain(story);
    expect(await ids('?q=%25')).toEqual([]);
    expect((await reader.get(`/conversations?q=${'x'.repeat(61)}`)).status).toBe(422);
  });
});

describe('a message of a conversation', () => {
  test('is found by its words without punctuation, and by its Shanghai day', async () => {
    const reader = await backend.reader();
    now = Date.parse('2026-03-05T23:30:00+08:00');
    const { body } = await reader.say({ story_id: story, body: '百分之 100% 的*真心*话' });
    const conversation_id = body.conversation.id;
    await backend.settled();
    now = Date.parse('2026-03-06T00:30:00+08:00');
    await reader.say({ conversation_id, body: '灯又灭了，Ｃａｆé' });
    await backend.settled();
    type Places = { data: MessageDto[]; meta: { total: number } };
    const find = async (q: string) =>
      (await reader.get<Places>(`/messages/search?conversation_id=${conversation_id}&q=${encodeURIComponent(q)}`)).body;
    const said = (await reader.latest({ conversation_id })).data;
    for (const words of ['的真心话', '100%', '%', '，']) {
      const places = said.filter(({ body }) => body.replaceAll('*', '').includes(words)).map(({ id }) => id);
      const { data, meta } = await find(words);
      expect([words, data.map(({ id }) => id), meta.total]).toEqual([words, places, places.length]);
    }
    expect((await find('%')).data[0]?.seq).toBe(1);
    for (const words of ['CAFE', 'ｃａｆé', ',cafe'])
      expect((await find(words)).data.map(({ seq }) => seq)).toEqual([3]);
    expect((await find('_')).data).toEqual([]);
    const days = await reader.get<Places>(`/messages/days?conversation_id=${conversation_id}`);
    expect(days.body.data.map(({ seq }) => seq)).toEqual([3, 1]);
    const stranger = await backend.reader();
    for (const path of ['search?q=灯&', 'days?'])
      expect((await stranger.get(`/messages/${path}conversation_id=${conversation_id}`)).status).toBe(404);
    expect((await reader.get(`/messages/search?conversation_id=${conversation_id}`)).status).toBe(422);
  });

  test('is reported once with its text, and the report outlives the conversation', async () => {
    const reader = await backend.reader({ login: 'plaintiff' });
    const { body } = await reader.say({ story_id: story });
    await backend.settled();
    const report = (form: object, id = body.reply.id) => reader.post<{ data: object }>(`/messages/${id}/report`, form);
    const first = await report({ reason: 'other', words: '答非所问' });
    expect([first.status, first.body.data]).toMatchObject([201, { message_id: body.reply.id, reason: 'other' }]);
    const again = await report({ reason: 'violent' });
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect((await report({ reason: 'dull' })).status).toBe(422);
    expect((await report({ reason: 'other', words: '长'.repeat(501) })).status).toBe(422);
    expect((await report({ reason: 'other' }, body.message.id)).status).toBe(422);
    const stranger = await backend.reader();
    expect((await stranger.post(`/messages/${body.reply.id}/report`, { reason: 'other' })).status).toBe(404);
    const reply = (await reader.latest({ story_id: story })).data[1]?.body ?? '?';
    await reader.delete(`/conversations/${body.conversation.id}`);
    const output = describeReports(backend.services);
    expect(output).toContain('其他  《聂小倩》  by plaintiff');
    expect(output).toContain('答非所问');
    expect(output).toContain(reply.split('\n')[0]);
    expect(output).not.toContain('血腥暴力');
  });
});
