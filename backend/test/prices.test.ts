import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from '@rstest/core';
import { readEnv } from '../src/env.ts';
import type { Client } from './client.ts';
import { message, startModel, wholeText } from './fakeModel.ts';
import { openBackend, type TestBackend } from './testBackend.ts';
import type { Page, StoryDto, TransactionDto } from './wire.ts';

// An operator's prices are sent to pages and charged to readers.

const story_id = 'nie-xiaoqian';
const PRICES = JSON.stringify({
  signUpGift: 500,
  storyPrices: { long: 7 },
  modelPrices: { 'big-model': 11 },
  continuePrice: 4,
  suggestionPrice: 5,
  checkInRewards: [21, 22],
  inviteReward: { inviter: 31, invitee: 32 },
});
const model = await startModel(message(wholeText));
afterAll(() => model.close());
const ofStories = await openBackend({ PRICES });
const ofModel = await openBackend({ PRICES, AI_BASE_URL: model.baseUrl, AI_MODEL: 'big-model' });
const ofOther = await openBackend({ PRICES, AI_BASE_URL: model.baseUrl, AI_MODEL: 'small-model' });

const told = async (backend: TestBackend) => {
  const visitor = backend.client();
  const { rules } = (await visitor.get<{ rules: Record<string, unknown> }>('/capabilities')).body;
  const { data } = (await visitor.get<{ data: StoryDto }>(`/stories/${story_id}`)).body;
  return { rules, message: data.price_per_message };
};

/** Returns the amounts in the reader's ledger, the oldest first. */
const booked = async (reader: Client) =>
  (await reader.get<Page<TransactionDto>>('/transactions')).body.data.map(({ amount }) => amount).reverse();

test('changed prices are announced and charged', async () => {
  const { rules, message: price } = await told(ofStories);
  expect(rules).toEqual({
    sign_up_gift: 500,
    story_prices: { short: 2, long: 7 },
    continue_price: 4,
    suggestion_price: 5,
    check_in_rewards: [21, 22],
    invite_reward: { inviter: 31, invitee: 32 },
  });
  const inviter = await ofStories.client().register();
  const reader = await ofStories.reader({ invite_code: inviter.invite_code });
  await reader.post('/check-in', { client_id: randomUUID() });
  const { body } = await reader.say({ story_id });
  await ofStories.settled();
  const conversation_id = body.conversation.id;
  await reader.post('/messages/continue', { conversation_id, client_id: randomUUID() });
  await ofStories.settled();
  await reader.post('/messages/suggestion', { conversation_id, client_id: randomUUID() });
  await ofStories.settled();
  expect(await booked(reader)).toEqual([500, 32, 21, -price, -4, -5]);
});

test.each([
  ['of its own', ofModel, 11],
  ['none', ofOther, 7],
])('the price of a model %s is announced and charged', async (_, backend, price) => {
  const { rules, message: one } = await told(backend);
  expect([one, Math.max(...Object.values(rules.story_prices as object))]).toEqual([price, price]);
  const reader = await backend.reader();
  await reader.say({ story_id });
  await backend.settled();
  expect(await booked(reader)).toEqual([500, -price]);
});

test.each([
  ['{', 'PRICES: all of it'],
  ['{"continuePrice":-1}', 'PRICES: continuePrice'],
  ['{"continuePrice":"1"}', 'PRICES: continuePrice'],
  ['{"signUpGift":1.5}', 'PRICES: signUpGift'],
  ['{"storyPrices":{"middle":1}}', 'PRICES: storyPrices.middle'],
  ['{"checkInRewards":[]}', 'PRICES: checkInRewards'],
  ['{"continueprice":1}', 'PRICES: continueprice'],
  ['{"modelPrices":{"m":1e9}}', 'PRICES: modelPrices.m'],
])('the start is refused for prices %s, with their place', (text, place) => {
  expect(() => readEnv({ PRICES: text })).toThrow(place);
});

describe('a paid call carries the price that the reader was shown', () => {
  /** Creates a reader with a line and its reply, and returns every call that costs points. */
  const begun = async () => {
    const reader = await ofStories.reader();
    const { body } = await reader.say({ story_id });
    await ofStories.settled();
    const conversation_id = body.conversation.id;
    const { last_seq } = (await reader.latest({ conversation_id })).meta;
    const call = (path: string, form: object, price: number) => ({ path, form, price });
    return {
      reader,
      conversation_id,
      calls: {
        message: call('/messages', { conversation_id, body: '夜里好冷' }, 7),
        继续: call('/messages/continue', { conversation_id }, 4),
        灵感: call('/messages/suggestion', { conversation_id }, 5),
        换一种说法: call(`/messages/${body.reply.id}/regenerate`, {}, 7),
        编辑: call(`/messages/${body.message.id}/edit`, { body: '换一句', last_seq }, 7),
      },
    };
  };
  const paidCalls = ['message', '继续', '灵感', '换一种说法', '编辑'] as const;

  test.each(paidCalls)('%s: a higher price is refused; the same key succeeds with the new price', async (name) => {
    const { reader, conversation_id, calls } = await begun();
    const { path, form, price } = calls[name];
    const before = await reader.latest({ conversation_id });
    const client_id = randomUUID();
    const refused = await reader.post(path, { ...form, client_id, price: price - 1 });
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'price_changed', price, rules: { continue_price: 4 } },
    });
    expect(await reader.latest({ conversation_id })).toEqual(before);
    expect(await booked(reader)).toEqual([500, -7]);
    const { status } = await reader.post(path, { ...form, client_id, price });
    await ofStories.settled();
    expect([status < 300, await booked(reader)]).toEqual([true, [500, -7, -price]]);
  });

  test.each(paidCalls)('%s: a lower price is charged, and a completed call is repeated at any price', async (name) => {
    const { reader, calls } = await begun();
    const { path, form, price } = calls[name];
    const client_id = randomUUID();
    const first = await reader.post(path, { ...form, client_id, price: price + 1 });
    const again = await reader.post(path, { ...form, client_id, price: 0 });
    await ofStories.settled();
    expect(again).toMatchObject({ status: first.status, body: first.body as object });
    expect(await booked(reader)).toEqual([500, -7, -price]);
  });

  test('a price that is not a number is refused with 422', async () => {
    const { reader, calls } = await begun();
    const { path, form } = calls.message;
    const { status } = await reader.post(path, { ...form, client_id: randomUUID(), price: -1 });
    expect(status).toBe(422);
  });
});
