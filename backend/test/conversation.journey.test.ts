import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@rstest/core';
import { rules } from '../src/rules.ts';
import { openBackend } from './testBackend.ts';
import type { ConversationDto, MessageDto, Page, StoryDto, SuggestionDto, TransactionDto, UserDto } from './wire.ts';

let now = Date.parse('2026-03-01T10:00:00+08:00');
const backend = await openBackend({ STORYTELLER_IDLE_TIMEOUT_MS: '150' }, () => now);
const story = 'nie-xiaoqian';
const price = rules.storyPrices.long;

describe('a conversation', () => {
  test('begins with the first message, is answered, and is found again', async () => {
    const reader = await backend.reader();
    const { status, body } = await reader.say({ story_id: story, body: '你是谁？' });
    expect(status).toBe(201);
    expect(body.message).toMatchObject({ role: 'user', body: '你是谁？', seq: 1, status: 'completed' });
    expect(body.reply).toMatchObject({ role: 'assistant', seq: 2, status: 'pending', cost: price });
    expect(body.balance).toBe(rules.signUpGift - price);
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

  test('fails with its partial text and its price back when the storyteller fails or falls silent', async () => {
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
      expect((await reader.get<{ data: UserDto }>('/user')).body.data.balance).toBe(rules.signUpGift);
    }
  });
});

describe('a conversation that has begun', () => {
  test('goes on in the same message, under a new revision', async () => {
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
    expect(after).toMatchObject({ status: 'completed', revision: 2, cost: rules.continuePrice });
    expect(after?.body.startsWith(before?.body ?? '?')).toBe(true);
    expect(after?.body.length).toBeGreaterThan(before?.body.length ?? 0);
  });

  test('offers suggestions in the first person that a reader may send', async () => {
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
    // ordered again for the same reply, they are others
    const second = await order();
    expect(new Set([...first.items, ...second.items].map(({ text }) => text)).size).toBe(6);
    // a message names what it was taken from: the suggestion, not one line of it
    const taken = { story_id: story, body: first.items[0]?.text, client_id: randomUUID() };
    const byLine = await reader.post('/messages', { ...taken, suggestion_id: first.items[0]?.id });
    expect([byLine.status, byLine.body]).toMatchObject([422, { errors: { suggestion_id: ['灵感已失效'] } }]);
    expect((await reader.post('/messages', { ...taken, suggestion_id: first.id })).status).toBe(201);
    await backend.settled();
    now += rules.suggestionLifetimeSeconds * 1000;
    expect((await reader.get(`/messages/suggestion/${first.id}`)).status).toBe(410);
  });

  test('is deleted for good, with what was running paid back', async () => {
    const reader = await backend.reader();
    const { body } = await reader.say({ story_id: story, body: '沉默' });
    expect((await reader.delete(`/conversations/${body.conversation.id}`)).status).toBe(204);
    expect((await reader.delete(`/conversations/${body.conversation.id}`)).status).toBe(404);
    expect((await reader.get<{ data: UserDto }>('/user')).body.data.balance).toBe(rules.signUpGift);
    const { body: ledger } = await reader.get<Page<TransactionDto>>('/transactions?type=refund');
    expect(ledger.data.map(({ amount }) => amount)).toEqual([price]);
    expect((await reader.latest({ story_id: story })).data).toEqual([]);
  });
});
