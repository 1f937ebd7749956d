import { randomUUID } from 'node:crypto';
import { expect, test } from '@rstest/core';
import fc from 'fast-check';
import { query } from '../src/db/database.ts';
import type { Client } from './client.ts';
import { openBackend } from './testBackend.ts';
import type { Latest, UserDto } from './wire.ts';

const runs = Number(process.env.FC_RUNS ?? 12);
const backend = await openBackend({ STORYTELLER_FAIL_RATE: '0.25', STORYTELLER_PIECE_DELAY_MS: '4' });
const { db } = backend.services;
const stories = ['nie-xiaoqian', 'hua-pi', 'cu-zhi'];

type Step =
  | { kind: 'say'; story: number; key: number; word: string }
  | { kind: 'continue' | 'suggest' | 'delete' | 'stop' | 'restart'; story: number; key: number }
  | { kind: 'regenerate' | 'choose' | 'edit'; story: number; key: number }
  | { kind: 'checkIn' }
  | { kind: 'wait' };

const story = fc.nat(stories.length - 1);
const key = fc.nat(12);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('say' as const),
      story,
      key,
      word: fc.constantFrom('夜深了', '咒语', '你是谁？'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'continue' as const,
        'suggest' as const,
        'delete' as const,
        'stop' as const,
        'restart' as const,
      ),
      story,
      key,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('regenerate' as const, 'choose' as const, 'edit' as const),
      story,
      key,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('checkIn' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const) }) },
);

/** Rounds of concurrent requests. */
const schedule = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 4, maxLength: 14 });

test('billing.property: the ledger adds up to the balance, each key is charged once, and failures are refunded', {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(schedule, async (rounds) => {
      const reader = await backend.reader();
      const user = (await reader.get<{ data: UserDto }>('/user')).body.data;
      const costing = new Costing(reader);
      for (const round of rounds) {
        const answers = await Promise.all(round.map((one) => act(reader, one, costing)));
        for (const status of answers) expect([200, 201, 202, 204, 402, 404, 409, 422]).toContain(status);
        checkLedger(user.id);
      }
      await backend.settled();
      checkLedger(user.id);
      checkCharges(user.id);
      expect(chargesOf(user.id)).toHaveLength(costing.successes);
    }),
    { numRuns: runs },
  );
});

/** Makes the calls that cost points and records the first response of each key. */
class Costing {
  readonly #reader: Client;
  readonly #keys = Array.from({ length: 13 }, () => randomUUID());
  readonly #answers = new Map<string, unknown>();

  constructor(reader: Client) {
    this.#reader = reader;
  }

  get successes(): number {
    return this.#answers.size;
  }

  /** Posts with a key and expects the same response for a repeated key. */
  async post(path: string, key: number, form: Record<string, unknown>): Promise<number> {
    const { status, body } = await this.#reader.post(path, { ...form, client_id: this.#keys[key] });
    if (status !== 201 && status !== 202) return status;
    const call = `${path} ${key}`;
    if (this.#answers.has(call)) expect(body).toEqual(this.#answers.get(call));
    else this.#answers.set(call, body);
    return status;
  }
}

async function act(reader: Client, one: Step, costing: Costing): Promise<number> {
  if (one.kind === 'wait') {
    await backend.settled();
    return 200;
  }
  if (one.kind === 'checkIn') return (await reader.post('/check-in')).status;
  if (one.kind === 'say') return costing.post('/messages', one.key, { story_id: stories[one.story], body: one.word });
  const { body } = await reader.get<Latest>(`/messages/latest?story_id=${stories[one.story]}&limit=1`);
  const conversation_id = body.meta.conversation_id ?? 'none';
  const lastId = body.data[0]?.id ?? 'none';
  if (one.kind === 'restart') return (await reader.post(`/conversations/${conversation_id}/restart`)).status;
  if (one.kind === 'regenerate') return costing.post(`/messages/${lastId}/regenerate`, one.key, {});
  if (one.kind === 'choose') return (await reader.post(`/messages/${lastId}/variant`, { variant: one.key })).status;
  if (one.kind === 'edit') {
    const { data } = await reader.latest({ story_id: stories[one.story] ?? '' });
    const lines = data.filter(({ role }) => role === 'user');
    return costing.post(`/messages/${lines[one.key % lines.length]?.id}/edit`, one.key, { body: '换了话' });
  }
  if (one.kind === 'stop') return (await reader.post(`/messages/${lastId}/cancel`)).status;
  if (one.kind === 'delete') return (await reader.delete(`/conversations/${conversation_id}`)).status;
  const path = one.kind === 'continue' ? '/messages/continue' : '/messages/suggestion';
  return costing.post(path, one.key, { conversation_id });
}

function entriesOf(userId: string) {
  return db.all(query.selectFrom('transactions').selectAll().where('user_id', '=', userId).orderBy('position'));
}

const costs = ['message', 'continue', 'suggestion'];
const chargesOf = (userId: string) => entriesOf(userId).filter(({ type }) => costs.includes(type));

function checkLedger(userId: string): void {
  let sum = 0;
  for (const entry of entriesOf(userId)) {
    sum += entry.amount;
    expect(entry.balance_after).toBe(sum);
    expect(sum).toBeGreaterThanOrEqual(0);
  }
  const balance = db.first(query.selectFrom('users').select('balance').where('id', '=', userId))?.balance;
  expect(balance).toBe(sum);
}

/** Checks that a reply costs what was booked and not refunded, and that a failed or empty one was refunded once. */
function checkCharges(userId: string): void {
  const entries = entriesOf(userId);
  const refunds = new Map(entries.filter(({ type }) => type === 'refund').map((entry) => [entry.ref_key, entry]));
  expect(refunds.size).toBe(entries.filter(({ type }) => type === 'refund').length);
  const charges = new Map(chargesOf(userId).map((entry) => [`${entry.type}:${entry.ref_key}`, entry]));
  for (const [key, { amount }] of refunds) expect(charges.get(key)?.amount).toBe(-amount);
  const messages = db.all(query.selectFrom('messages').selectAll().where('user_id', '=', userId));
  for (const message of messages.filter(({ role }) => role === 'assistant')) {
    const { id, revision, status, body, cost } = message;
    const spent = entries
      .filter(({ ref_type, ref_id }) => ref_type === 'message' && ref_id === id)
      .reduce((sum, { amount }) => sum - amount, 0);
    expect(['failed', 'completed', 'cancelled']).toContain(status);
    expect(cost).toBe(spent);
    const keys = revision === 1 ? [`message:${id}`] : [`message:${id}:${revision}`, `continue:${id}:${revision}`];
    // choosing a text creates a revision without a charge
    const lastKey = keys.find((key) => charges.has(key));
    if (lastKey && (status === 'failed' || body === '')) expect(refunds.has(lastKey)).toBe(true);
    if (lastKey && status === 'completed' && revision === 1) expect(refunds.has(lastKey)).toBe(false);
  }
}
