import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, onTestFinished, test } from '@rstest/core';
import { query } from '../src/db/database.ts';
import { defaultPrices } from '../src/prices.ts';
import type { Client } from './client.ts';
import { openBackend } from './testBackend.ts';
import type { ConversationDto, ErrorDto, MessageDto, Page, Sent, TransactionDto, UserDto } from './wire.ts';

// The model writes the text that the test dictates, when the test dictates it.

/** A reply that was requested from the model. */
class Dictation {
  readonly prompt: string;
  readonly #response: ServerResponse;

  constructor(prompt: string, response: ServerResponse) {
    this.prompt = prompt;
    this.#response = response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  }

  write(text: string): void {
    this.#response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\n\n`);
  }

  end(): void {
    this.#response.end('data: [DONE]\n\n');
  }

  breakOff(): void {
    this.#response.destroy();
  }

  /** Resolves once the backend has closed the connection. */
  async abandoned(): Promise<void> {
    if (!this.#response.closed) await once(this.#response, 'close');
  }
}

const asked: Dictation[] = [];
const waiting: ((dictation: Dictation) => void)[] = [];
const model = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const dictation = new Dictation(body, response);
  const next = waiting.shift();
  if (next) next(dictation);
  else asked.push(dictation);
}).listen(0, '127.0.0.1');
await once(model, 'listening');
const backend = await openBackend({
  AI_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`,
  AI_MODEL: 'dictated',
});
afterAll(() => {
  model.close();
  model.closeAllConnections();
});

/** Resolves to the next reply that is requested from the model. */
const dictated = (): Promise<Dictation> =>
  new Promise((resolve) => {
    const first = asked.shift();
    if (first) resolve(first);
    else waiting.push(resolve);
  });

const story_id = 'nie-xiaoqian';
const price = defaultPrices.storyPrices.long;
const balanceOf = async (reader: Client) => (await reader.get<{ data: UserDto }>('/user')).body.data.balance;
const messagesOf = async (reader: Client) => (await reader.latest({ story_id })).data;
const lastOf = async (reader: Client) => (await messagesOf(reader)).at(-1);
const refundsOf = async (reader: Client) =>
  (await reader.get<Page<TransactionDto>>('/transactions?type=refund')).body.data.map(({ amount }) => amount);

/** Waits until the reply's stored text is `text`. */
async function storedText(reader: Client, text: string): Promise<void> {
  await expect.poll(async () => (await lastOf(reader))?.body).toBe(text);
}

interface Answer {
  message: MessageDto;
  balance: number;
}
const cancel = (reader: Client, id: string, form: object = {}) => reader.post<Answer>(`/messages/${id}/cancel`, form);

/** Sends the reader's first line and answers it with `words`. */
async function answered(reader: Client, words: string) {
  const { body } = await reader.say({ story_id });
  await dictate(words);
  return body;
}

/** Writes the next requested reply completely. */
async function dictate(words: string): Promise<Dictation> {
  const dictation = await dictated();
  dictation.write(words);
  dictation.end();
  await backend.settled();
  return dictation;
}

const regenerate = (reader: Client, id: string, client_id: string = crypto.randomUUID()) =>
  reader.post<Answer>(`/messages/${id}/regenerate`, { client_id });
const choose = (reader: Client, id: string, variant: unknown) =>
  reader.post<Answer>(`/messages/${id}/variant`, { variant });

test.each([
  ['back', -3_600_000],
  ['on', 3_600_000],
])('a reply continues although the clock is set %s an hour', async (_, jumpMs) => {
  const reader = await backend.reader();
  await reader.say({ story_id });
  const dictation = await dictated();
  dictation.write('月色');
  await storedText(reader, '月色');
  const clock = Date.now;
  onTestFinished(() => {
    Date.now = clock;
  });
  Date.now = () => clock() + jumpMs;
  dictation.write('正好');
  await storedText(reader, '月色正好');
  expect((await lastOf(reader))?.status).toBe('streaming');
  dictation.end();
  await backend.settled();
});

describe('a stopped reply', () => {
  test('keeps its text and price, and closes the storyteller’s connection', async () => {
    const reader = await backend.reader();
    const { body } = await reader.say({ story_id });
    const dictation = await dictated();
    dictation.write('月色');
    await storedText(reader, '月色');
    // not yet stored when the reader cancels
    dictation.write('正好');
    const { status, body: stopped } = await cancel(reader, body.reply.id, { revision: 1 });
    await dictation.abandoned();
    expect(status).toBe(200);
    expect(stopped.message).toMatchObject({ status: 'cancelled', error: null, cost: price });
    expect(stopped.message.body).toMatch(/^月色(正好)?$/);
    expect(stopped.message.version).toBeGreaterThan(body.reply.version);
    expect([stopped.balance, await balanceOf(reader)]).toEqual([
      defaultPrices.signUpGift - price,
      defaultPrices.signUpGift - price,
    ]);
    expect(await lastOf(reader)).toEqual(stopped.message);
    expect(await refundsOf(reader)).toEqual([]);
    expect((await reader.latest({ story_id })).meta.active_message_id).toBeNull();
  });

  test('is refunded before its first word; continuing it costs as much as a message', async () => {
    const reader = await backend.reader();
    const { body } = await reader.say({ story_id, body: '月色正好。' });
    await dictated();
    const { body: stopped } = await cancel(reader, body.reply.id);
    expect(stopped).toMatchObject({
      message: { status: 'cancelled', body: '', cost: 0 },
      balance: defaultPrices.signUpGift,
    });
    expect(await refundsOf(reader)).toEqual([price]);
    // the list shows the last message immediately, and the search finds it
    const { body: page } = await reader.get<Page<ConversationDto>>('/conversations');
    const words = { last_message: { id: body.message.id, role: 'user', excerpt: '月色正好。' } };
    expect([body.conversation, page.data[0]]).toMatchObject([words, words]);
    const found = `/conversations?q=${encodeURIComponent('月色')}`;
    expect((await reader.get<Page<ConversationDto>>(found)).body.data).toMatchObject([words]);
    const again = await reader.post<Answer>('/messages/continue', {
      conversation_id: body.conversation.id,
      client_id: crypto.randomUUID(),
    });
    expect(again.body).toMatchObject({
      message: { revision: 2, cost: price },
      balance: defaultPrices.signUpGift - price,
    });
    const dictation = await dictated();
    dictation.write('门开了。');
    dictation.end();
    await backend.settled();
    expect(await lastOf(reader)).toMatchObject({ status: 'completed', body: '门开了。', cost: price });
  });

  test('is refunded if the model has withdrawn its text, as it does with thoughts', async () => {
    const reader = await backend.reader();
    const { body } = await reader.say({ story_id });
    const dictation = await dictated();
    dictation.write('先想一想。');
    await storedText(reader, '先想一想。');
    dictation.write('</think>');
    await storedText(reader, '');
    expect((await cancel(reader, body.reply.id)).body).toMatchObject({
      message: { status: 'cancelled', body: '', cost: 0 },
      balance: defaultPrices.signUpGift,
    });
    await answered(reader, '门开了。');
    expect(await lastOf(reader)).toMatchObject({ status: 'completed', body: '门开了。' });
  });

  test('is refunded for a continuation that has added no text', async () => {
    const reader = await backend.reader();
    const { body } = await reader.say({ story_id });
    const first = await dictated();
    first.write('月色');
    first.end();
    await backend.settled();
    const goOn = () =>
      reader.post<Answer>('/messages/continue', {
        conversation_id: body.conversation.id,
        client_id: crypto.randomUUID(),
      });
    await goOn();
    await dictated();
    expect((await cancel(reader, body.reply.id, { revision: 2 })).body.message).toMatchObject({
      status: 'cancelled',
      body: '月色',
      cost: price,
    });
    await goOn();
    (await dictated()).write('正好');
    await storedText(reader, '月色正好');
    expect((await cancel(reader, body.reply.id, { revision: 3 })).body.message).toMatchObject({
      status: 'cancelled',
      body: '月色正好',
      cost: price + defaultPrices.continuePrice,
    });
    expect(await refundsOf(reader)).toEqual([defaultPrices.continuePrice]);
  });

  test('is returned unchanged when it is stopped again, too late or in an old revision', async () => {
    const reader = await backend.reader();
    const { body } = await reader.say({ story_id });
    const dictation = await dictated();
    dictation.write('月色');
    await storedText(reader, '月色');
    const answers = await Promise.all([cancel(reader, body.reply.id), cancel(reader, body.reply.id)]);
    const [once] = answers.map(({ body: { message } }) => message);
    for (const { status, body: answer } of answers) expect([status, answer.message]).toEqual([200, once]);
    expect((await cancel(reader, body.reply.id)).body.message).toEqual(once);
    await reader.post('/messages/continue', {
      conversation_id: body.conversation.id,
      client_id: crypto.randomUUID(),
    });
    const second = await dictated();
    const late = await cancel(reader, body.reply.id, { revision: 1 });
    expect([late.status, late.body.message.status]).toEqual([200, 'pending']);
    second.write('正好');
    second.end();
    await backend.settled();
    expect(await lastOf(reader)).toMatchObject({ status: 'completed', body: '月色正好' });
  });

  test('cannot be stopped by another user; the reader’s own message is returned unchanged', async () => {
    const [reader, other] = [await backend.reader(), await backend.reader()];
    const { body } = await reader.say({ story_id });
    const dictation = await dictated();
    const foreign = await other.post<ErrorDto>(`/messages/${body.reply.id}/cancel`, {});
    expect([foreign.status, foreign.body.message]).toEqual([404, '没有找到这条消息']);
    expect((await cancel(reader, body.message.id)).body.message).toMatchObject({ status: 'completed' });
    dictation.write('月色');
    dictation.end();
    await backend.settled();
    expect(await lastOf(reader)).toMatchObject({ status: 'completed', body: '月色' });
  });
});

describe('a retold reply', () => {
  test('costs as much as a message, shows the new text, and sends the former text in the prompt', async () => {
    const reader = await backend.reader();
    const { reply } = await answered(reader, '月色正好。');
    const { status, body } = await regenerate(reader, reply.id);
    expect(status).toBe(202);
    expect(body).toMatchObject({
      message: { id: reply.id, body: '', status: 'pending', revision: 2, variant: 2, variants: 2, cost: 2 * price },
      balance: defaultPrices.signUpGift - 2 * price,
    });
    const { prompt } = await dictate('灯影摇了摇。');
    expect(prompt).toContain('月色正好。');
    expect(await lastOf(reader)).toMatchObject({ status: 'completed', body: '灯影摇了摇。', variant: 2, variants: 2 });
  });

  test('keeps its former texts; choosing one is free, and the story continues from it', async () => {
    const reader = await backend.reader();
    const { reply, conversation } = await answered(reader, '月色正好。');
    await regenerate(reader, reply.id);
    await dictate('灯影摇了摇。');
    const { body: chosen } = await choose(reader, reply.id, 1);
    expect(chosen).toMatchObject({
      message: { body: '月色正好。', status: 'completed', variant: 1, variants: 2 },
      balance: defaultPrices.signUpGift - 2 * price,
    });
    expect(await lastOf(reader)).toEqual(chosen.message);
    // a text that was continued, replaced and chosen again is unchanged
    await reader.post('/messages/continue', { conversation_id: conversation.id, client_id: crypto.randomUUID() });
    await dictate('风停了。');
    expect((await choose(reader, reply.id, 2)).body.message.body).toBe('灯影摇了摇。');
    expect((await choose(reader, reply.id, 1)).body.message.body).toBe('月色正好。风停了。');
    await reader.say({ story_id });
    const { prompt } = await dictate('她笑了。');
    expect(prompt).toContain('月色正好。风停了。');
    expect(prompt).not.toContain('灯影摇了摇。');
    const late = await choose(reader, reply.id, 2);
    expect([late.status, late.body]).toMatchObject([422, { message: '只有最后一条回复可以换一种说法' }]);
  });

  test('shows its former text and is refunded if no new text arrived', async () => {
    const reader = await backend.reader();
    const { reply } = await answered(reader, '月色正好。');
    await regenerate(reader, reply.id);
    (await dictated()).end();
    await backend.settled();
    const failed = await lastOf(reader);
    expect(failed).toMatchObject({ status: 'failed', body: '月色正好。', variant: 1, variants: 1, cost: price });
    expect(failed?.error?.message).toBe('没能换一种说法，点数已退还，原来的还在');
    await regenerate(reader, reply.id);
    await dictated();
    const { body: stopped } = await cancel(reader, reply.id, { revision: 3 });
    expect(stopped.message).toMatchObject({
      status: 'failed',
      body: '月色正好。',
      variant: 1,
      variants: 1,
      cost: price,
    });
    expect(await refundsOf(reader)).toEqual([price, price]);
    expect(await balanceOf(reader)).toBe(defaultPrices.signUpGift - price);
  });

  test('keeps both texts and is refunded if the new one is interrupted', async () => {
    const reader = await backend.reader();
    const { reply } = await answered(reader, '月色正好。');
    await regenerate(reader, reply.id);
    const dictation = await dictated();
    dictation.write('灯影');
    await storedText(reader, '灯影');
    dictation.breakOff();
    await backend.settled();
    expect(await lastOf(reader)).toMatchObject({
      status: 'failed',
      body: '灯影',
      variant: 2,
      variants: 2,
      cost: price,
    });
    expect((await choose(reader, reply.id, 1)).body.message).toMatchObject({
      status: 'completed',
      error: null,
      body: '月色正好。',
    });
    expect((await choose(reader, reply.id, 2)).body.message).toMatchObject({ status: 'failed', body: '灯影' });
  });

  test('is charged once per key, and refused while it is being written', async () => {
    const reader = await backend.reader();
    const { reply } = await answered(reader, '月色正好。');
    const key = crypto.randomUUID();
    const [first, second] = await Promise.all([regenerate(reader, reply.id, key), regenerate(reader, reply.id, key)]);
    expect(second).toMatchObject({ status: 202, body: first?.body });
    expect((await regenerate(reader, reply.id)).status).toBe(409);
    expect((await choose(reader, reply.id, 1)).status).toBe(409);
    await dictate('灯影摇了摇。');
    expect(await balanceOf(reader)).toBe(defaultPrices.signUpGift - 2 * price);
  });

  test('must be the reader’s last reply, and the chosen text must exist', async () => {
    const [reader, other] = [await backend.reader(), await backend.reader()];
    const { message, reply } = await answered(reader, '月色正好。');
    expect((await regenerate(other, reply.id)).status).toBe(404);
    expect((await choose(other, reply.id, 1)).status).toBe(404);
    expect((await regenerate(reader, message.id)).status).toBe(422);
    for (const variant of [0, 2, '一']) expect((await choose(reader, reply.id, variant)).status).toBe(422);
    expect((await choose(reader, reply.id, 1)).body.message.version).toBe((await lastOf(reader))?.version);
  });
});

test('the response to a message contains the conversation as the list does', async () => {
  const reader = await backend.reader();
  await answered(reader, '月色正好。');
  const { body } = await reader.say({ story_id, body: '后来呢' });
  const { body: page } = await reader.get<Page<ConversationDto>>('/conversations');
  expect(page.data).toEqual([body.conversation]);
  await dictate('她笑了。');
});

describe('an edited message', () => {
  const edit = (reader: Client, id: string, form: Record<string, unknown>) =>
    reader.post<Sent>(`/messages/${id}/edit`, { client_id: crypto.randomUUID(), ...form });
  const wordsOf = (messages: MessageDto[]) => messages.map(({ seq, body }) => [seq, body]);

  test('gets a new reply for the price of a message; later messages disappear, also for clients that catch up', async () => {
    const reader = await backend.reader();
    const { message, reply } = await answered(reader, '月色正好。');
    await reader.say({ story_id, body: '后来呢' });
    await dictate('她笑了。');
    const { version } = (await reader.latest({ story_id })).meta;
    const { status, body } = await edit(reader, message.id, { body: '你是谁', revision: 1, last_seq: 4 });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      message: { id: message.id, seq: 1, body: '你是谁', revision: 2, client_id: message.client_id },
      reply: { seq: 2, status: 'pending', cost: price },
      conversation: { last_seq: 2 },
      balance: defaultPrices.signUpGift - 3 * price,
    });
    expect(body.reply.id).not.toBe(reply.id);
    const { prompt } = await dictate('我是小倩。');
    expect(prompt).toContain('你是谁');
    expect(prompt).not.toMatch(/月色正好|后来呢|她笑了/);
    const { data } = await reader.latest({ story_id });
    expect(wordsOf(data)).toEqual([
      [1, '你是谁'],
      [2, '我是小倩。'],
    ]);
    const since = await reader.latest({ story_id, after: version });
    expect([wordsOf(since.data), since.meta.last_seq]).toEqual([wordsOf(data), 2]);
    expect(await refundsOf(reader)).toEqual([]);
  });

  test('is refused if the conversation has changed since', async () => {
    const reader = await backend.reader();
    const { message } = await answered(reader, '月色正好。');
    await reader.say({ story_id });
    await dictate('她笑了。');
    const before = await messagesOf(reader);
    for (const seen of [{ last_seq: 2 }, { revision: 2 }]) {
      const { status, body } = await edit(reader, message.id, { body: '你是谁', ...seen });
      expect([status, body]).toMatchObject([409, { code: 'conversation_changed' }]);
    }
    expect(await messagesOf(reader)).toEqual(before);
    expect(await balanceOf(reader)).toBe(defaultPrices.signUpGift - 2 * price);
  });

  test('is charged once per key; it is refused without enough points and during a reply', async () => {
    const reader = await backend.reader();
    const { body: begun } = await reader.say({ story_id });
    const dictation = await dictated();
    expect((await edit(reader, begun.message.id, { body: '你是谁' })).status).toBe(409);
    dictation.write('月色正好。');
    dictation.end();
    await backend.settled();
    const form = { body: '你是谁', client_id: crypto.randomUUID() };
    const [first, second] = await Promise.all([
      edit(reader, begun.message.id, form),
      edit(reader, begun.message.id, form),
    ]);
    expect(second).toMatchObject({ status: 201, body: first?.body });
    await dictate('我是小倩。');
    expect(await balanceOf(reader)).toBe(defaultPrices.signUpGift - 2 * price);
    const { db } = backend.services;
    const user = (await reader.get<{ data: UserDto }>('/user')).body.data.id;
    db.run(
      query
        .updateTable('users')
        .set({ balance: price - 1 })
        .where('id', '=', user),
    );
    const before = await messagesOf(reader);
    expect((await edit(reader, begun.message.id, { body: '再问一次' })).status).toBe(402);
    expect(await messagesOf(reader)).toEqual(before);
  });

  test('must be the reader’s own message', async () => {
    const [reader, other] = [await backend.reader(), await backend.reader()];
    const { message, reply } = await answered(reader, '月色正好。');
    expect((await edit(other, message.id, { body: '你是谁' })).status).toBe(404);
    expect((await edit(reader, reply.id, { body: '你是谁' })).status).toBe(422);
    for (const body of ['', '长'.repeat(2_001)]) expect((await edit(reader, message.id, { body })).status).toBe(422);
    expect(await messagesOf(reader)).toHaveLength(2);
  });
});

describe('a restarted story', () => {
  const restart = (reader: Client, id: string) =>
    reader.post<{ data: ConversationDto }>(`/conversations/${id}/restart`, { client_id: crypto.randomUUID() });

  test('keeps its conversation without messages, and refunds nothing', async () => {
    const reader = await backend.reader();
    const { conversation } = await answered(reader, '月色正好。');
    const { version } = (await reader.latest({ story_id })).meta;
    const { status, body } = await restart(reader, conversation.id);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ id: conversation.id, last_message: null, last_seq: 0, version: version + 1 });
    const since = await reader.latest({ story_id, after: version });
    expect(since).toMatchObject({ data: [], meta: { version: version + 1, last_seq: 0, active_message_id: null } });
    expect(await balanceOf(reader)).toBe(defaultPrices.signUpGift - price);
    expect((await restart(reader, conversation.id)).body.data.version).toBe(version + 1);
    const again = await reader.say({ story_id, body: '从头来' });
    expect(again.body).toMatchObject({ message: { seq: 1 }, conversation: { id: conversation.id } });
    expect((await dictate('月色又好。')).prompt).not.toContain('月色正好');
  });

  test('stops and refunds a running reply', async () => {
    const reader = await backend.reader();
    const { body } = await reader.say({ story_id });
    const dictation = await dictated();
    dictation.write('月色');
    await storedText(reader, '月色');
    expect((await restart(reader, body.conversation.id)).status).toBe(200);
    await dictation.abandoned();
    await backend.settled();
    expect(await messagesOf(reader)).toEqual([]);
    expect(await refundsOf(reader)).toEqual([price]);
  });

  test('cannot be restarted by another user', async () => {
    const [reader, other] = [await backend.reader(), await backend.reader()];
    const { conversation } = await answered(reader, '月色正好。');
    expect((await restart(other, conversation.id)).status).toBe(404);
    expect(await messagesOf(reader)).toHaveLength(2);
  });
});
