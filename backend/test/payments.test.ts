import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@rstest/core';
import fc from 'fast-check';
import { MINUTE_MS } from '../src/clock.ts';
import { query } from '../src/db/database.ts';
import { readEnv } from '../src/env.ts';
import { signatureOf } from '../src/payments/orders.ts';
import type { Client } from './client.ts';
import { openSocket } from './socket.ts';
import { fastEnv, openBackend, type TestBackend } from './testBackend.ts';
import type { ErrorDto, Page, TransactionDto, UserDto } from './wire.ts';

interface OrderDto {
  id: string;
  status: string;
  points: number;
  price_cents: number;
  checkout_url: string | null;
  expires_at: string;
}
type Ordered = { data: OrderDto };

const time = { now: Date.parse('2026-11-22T04:00:00Z') };
const backend = await openBackend({}, () => time.now);
const { db } = backend.services;

async function order(reader: Client, package_id = 'p60', client_id: string = randomUUID()): Promise<OrderDto> {
  const { status, body } = await reader.post<Ordered>('/orders', { package_id, client_id });
  expect(status).toBe(201);
  return body.data;
}

const orderAgain = async (reader: Client, id: string) => (await reader.get<Ordered>(`/orders/${id}`)).body.data;

async function balanceOf(reader: Client): Promise<number> {
  return (await reader.get<{ data: UserDto }>('/user')).body.data.balance;
}

interface Webhook {
  raw: string;
  headers: Record<string, string>;
}

function webhook({ id, price_cents }: OrderDto, patch: Record<string, unknown> = {}): Webhook {
  const event = {
    id: `evt_${randomUUID()}`,
    type: 'payment.succeeded',
    order_id: id,
    amount_cents: price_cents,
    ...patch,
  };
  const raw = JSON.stringify(event);
  const signature = signatureOf(fastEnv.PAYMENT_WEBHOOK_SECRET, raw, Math.floor(time.now / 1000));
  return { raw, headers: { 'Payment-Signature': signature } };
}

/** Calls the webhook like a provider, without cookies and token. */
const deliver = ({ raw, headers }: Webhook, to: TestBackend = backend) =>
  to.client().post<{ data?: object; message?: string }>('/payments/webhook/sandbox', raw, headers);

describe('an order', () => {
  test('has the price of the server’s list, not the page’s', async () => {
    const reader = await backend.reader();
    const { body } = await reader.post<Ordered>('/orders', {
      package_id: 'p320',
      points: 999_999,
      price_cents: 1,
      client_id: randomUUID(),
    });
    expect(body.data).toMatchObject({ status: 'pending', points: 320, price_cents: 3000 });
    const unknown = await reader.post<ErrorDto>('/orders', { package_id: 'p1', client_id: randomUUID() });
    expect([unknown.status, Object.keys(unknown.body.errors ?? {})]).toEqual([422, ['package_id']]);
  });

  test('is created once per key, also by repeated and simultaneous requests', async () => {
    const reader = await backend.reader();
    const key = randomUUID();
    const made = await Promise.all([order(reader, 'p60', key), order(reader, 'p60', key), order(reader, 'p60', key)]);
    expect(new Set(made.map(({ id, checkout_url }) => `${id} ${checkout_url}`)).size).toBe(1);
    const { body } = await reader.get<Page<OrderDto>>('/orders');
    expect(body.data).toHaveLength(1);
    expect((await reader.post('/orders', { package_id: 'p320', client_id: key })).status).toBe(422);
  });

  test('expires after 30 minutes and then has no checkout', async () => {
    const reader = await backend.reader();
    const { id, checkout_url } = await order(reader);
    time.now += 29 * MINUTE_MS;
    expect(await orderAgain(reader, id)).toMatchObject({ status: 'pending', checkout_url });
    time.now += MINUTE_MS;
    expect(await orderAgain(reader, id)).toMatchObject({ status: 'expired', checkout_url: null });
    expect(await balanceOf(reader)).toBe(100);
  });

  test('is stored if the provider is unreachable, and a repetition with its key continues it', async () => {
    const away = await openBackend();
    const { payments } = away.services;
    if (!payments) throw new Error('no payments');
    const open = payments.createCheckout;
    payments.createCheckout = () => Promise.reject(new Error('connection refused'));
    const reader = await away.reader();
    const form = { package_id: 'p60', client_id: randomUUID() };
    const refused = await reader.post<ErrorDto>('/orders', form);
    expect([refused.status, refused.body.message]).toEqual([503, '暂时连不上付款方，没有扣款，请稍后再试']);
    payments.createCheckout = open;
    expect((await order(reader, 'p60', form.client_id)).status).toBe('pending');
    expect((await reader.get<Page<OrderDto>>('/orders')).body.data).toHaveLength(1);
  });

  test('is refused as the eleventh open one', async () => {
    const reader = await backend.reader();
    for (let count = 0; count < 10; count += 1) await order(reader);
    const refused = await reader.post<ErrorDto>('/orders', { package_id: 'p60', client_id: randomUUID() });
    expect([refused.status, refused.body.code]).toEqual([409, 'too_many_orders']);
    time.now += 30 * MINUTE_MS;
    await order(reader);
  });
});

describe('a webhook', () => {
  test('credits once, informs every page, and adds a receipt to the ledger', async () => {
    const reader = await backend.reader();
    const socket = await openSocket(backend, reader);
    await socket.subscribe();
    const bought = await order(reader);
    const paid = webhook(bought);
    const first = await deliver(paid);
    expect([first.status, first.body]).toEqual([200, { data: { order_id: bought.id, status: 'credited' } }]);
    const { data } = await socket.frame(({ event }) => event === 'order.updated');
    expect(data).toMatchObject({ order: { id: bought.id, status: 'credited' } });
    expect((await deliver(paid)).body).toEqual(first.body);
    expect((await deliver(webhook(bought))).body).toEqual(first.body);
    expect(await balanceOf(reader)).toBe(160);
    const { body } = await reader.get<Page<TransactionDto & { order: object }>>('/transactions?type=recharge');
    expect(body.data[0]).toMatchObject({
      amount: 60,
      description: '充值 60 点',
      order: { id: bought.id, price_cents: 600, method: '沙盒付款', paid_at: expect.stringMatching(/^2026-/) },
    });
  });

  test('changes nothing with a missing, foreign, mismatched or stale signature', async () => {
    const reader = await backend.reader();
    const bought = await order(reader);
    const { raw, headers } = webhook(bought);
    const seconds = Math.floor(time.now / 1000);
    const signed = (secret: string, at: number) => ({ 'Payment-Signature': signatureOf(secret, raw, at) });
    const attempts: Webhook[] = [
      { raw, headers: {} },
      { raw, headers: { 'Payment-Signature': 't=,v1=' } },
      { raw, headers: signed('another secret of theirs', seconds) },
      { raw: `${raw} `, headers },
      { raw, headers: signed(fastEnv.PAYMENT_WEBHOOK_SECRET, seconds - 301) },
      { raw, headers: signed(fastEnv.PAYMENT_WEBHOOK_SECRET, seconds + 301) },
      webhook(bought, { amount_cents: 1 }),
      webhook(bought, { order_id: '2026112200000000' }),
      webhook(bought, { type: 'payment.refunded' }),
    ];
    const statuses = [];
    for (const attempt of attempts) statuses.push((await deliver(attempt)).status);
    expect(statuses).toEqual([403, 403, 403, 403, 403, 403, 409, 404, 403]);
    expect(await orderAgain(reader, bought.id)).toMatchObject({ status: 'pending' });
    expect(await balanceOf(reader)).toBe(100);
    expect((await deliver({ raw, headers })).status).toBe(200);
  });
});

describe('the sandbox', () => {
  const sandbox = (url: string | null) => `/${new URL(url ?? '').pathname}`;
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

  test('states that no money is paid; 付款成功 credits the points by a signed webhook', async () => {
    const live = await openBackend();
    const reader = await live.reader();
    const bought = await order(reader);
    const page = sandbox(bought.checkout_url);
    const visitor = live.client();
    const shown = await visitor.get(page);
    expect(shown.text).toContain('沙盒付款，不会真的扣款');
    expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'");
    const chosen = await visitor.post(page, 'outcome=paid', form);
    expect([chosen.status, chosen.headers.get('location')]).toEqual([303, `${live.url}/my/wallet/orders/${bought.id}`]);
    await expect.poll(async () => (await orderAgain(reader, bought.id)).status).toBe('credited');
    expect((await visitor.get(page)).text).toContain('这笔付款已经完成');
    await visitor.post(page, 'outcome=paid', form);
    expect(await balanceOf(reader)).toBe(160);
  });

  test('leaves the order open on 取消 and ends it on 付款失败', async () => {
    const live = await openBackend();
    const reader = await live.reader();
    const bought = await order(reader);
    const page = sandbox(bought.checkout_url);
    await live.client().post(page, 'outcome=cancelled', form);
    expect(await orderAgain(reader, bought.id)).toMatchObject({ status: 'pending' });
    await live.client().post(page, 'outcome=failed', form);
    await expect.poll(async () => (await orderAgain(reader, bought.id)).status).toBe('failed');
    expect(await balanceOf(reader)).toBe(100);
  });

  test('delivers a failed webhook again, also after a restart', async () => {
    const live = await openBackend();
    const reader = await live.reader();
    const bought = await order(reader);
    live.services.db.run(
      query.updateTable('sandbox_checkouts').set({ outcome: 'paid' }).where('order_id', '=', bought.id),
    );
    // like the start of a server
    const stop = live.services.payments?.start?.(live.url);
    await expect.poll(async () => (await orderAgain(reader, bought.id)).status).toBe('credited');
    stop?.();
  });

  test('is off by default, and requires packages', async () => {
    const without = await openBackend({ PAYMENT_PROVIDER: '' });
    const reader = await without.reader();
    expect((await reader.get<{ data: string[] }>('/capabilities')).body.data).not.toContain('orders');
    expect((await reader.get<ErrorDto>('/orders')).body.code).toBe('route_missing');
    expect((await reader.post<ErrorDto>('/payments/webhook/sandbox')).status).toBe(404);
    const wrong = '[{"id":"a"}]';
    for (const RECHARGE_PACKAGES of ['', wrong, '[]', 'p60']) {
      const env = { PAYMENT_PROVIDER: 'sandbox', RECHARGE_PACKAGES };
      expect(() => readEnv(env)).toThrow('RECHARGE_PACKAGES: a JSON list');
    }
    // without a payment provider the packages are not validated
    expect(readEnv({ RECHARGE_PACKAGES: wrong }).packages).toEqual([]);
  });
});

type Step =
  | { kind: 'order'; key: number }
  | { kind: 'paid' | 'failed' | 'forged'; key: number; event: number }
  | { kind: 'later'; minutes: number };

const key = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('order' as const), key }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('paid' as const, 'failed' as const, 'forged' as const),
      key,
      event: fc.nat(1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('later' as const), minutes: fc.integer({ min: 1, max: 40 }) }),
  },
);

test('payments.property: each payment is credited exactly once in any order of webhooks, repetitions and expiry', {
  timeout: 600_000,
}, async () => {
  const runs = Number(process.env.FC_RUNS ?? 15);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 3, maxLength: 10 }),
      async (rounds) => {
        const reader = await backend.reader();
        const orders = [await order(reader, 'p60'), await order(reader, 'p320'), await order(reader, 'p60')];
        const keys = [randomUUID(), randomUUID(), randomUUID()];
        const paid = new Set<number>();
        const answers = new Map<string, unknown>();
        const act = async (one: Exclude<Step, { kind: 'later' }>) => {
          if (one.kind === 'order') {
            const { status } = await reader.post('/orders', { package_id: 'p60', client_id: keys[one.key] });
            expect([201, 409]).toContain(status);
          } else {
            const bought = orders[one.key] as OrderDto;
            const id = `evt_${bought.id}_${one.kind}_${one.event}`;
            const type = one.kind === 'failed' ? 'payment.failed' : 'payment.succeeded';
            const hook = webhook(bought, { id, type });
            if (one.kind === 'forged') hook.headers = { 'Payment-Signature': 't=1,v1=00' };
            if (one.kind === 'paid') paid.add(one.key);
            const { status, body } = await deliver(hook);
            expect(status).toBe(one.kind === 'forged' ? 403 : 200);
            if (one.kind === 'forged') return;
            if (answers.has(id)) expect(body).toEqual(answers.get(id));
            answers.set(id, body);
          }
        };
        for (const round of rounds) {
          // time passes only between requests, since a webhook in progress would expire
          for (const one of round) if (one.kind === 'later') time.now += one.minutes * MINUTE_MS;
          await Promise.all(round.flatMap((one) => (one.kind === 'later' ? [] : [act(one)])));
          const due = [...paid].reduce((sum, index) => sum + (orders[index]?.points ?? 0), 100);
          expect(await balanceOf(reader)).toBe(due);
        }
        const credits = db.all(
          query
            .selectFrom('transactions')
            .select(['ref_id', 'amount'])
            .where('type', '=', 'recharge')
            .where(
              'ref_id',
              'in',
              orders.map(({ id }) => id),
            ),
        );
        expect(credits.map(({ ref_id }) => ref_id).sort()).toEqual([...paid].map((index) => orders[index]?.id).sort());
        for (const index of paid)
          expect(await orderAgain(reader, orders[index]?.id ?? '')).toMatchObject({ status: 'credited' });
      },
    ),
    { numRuns: runs },
  );
});

test('未成年人模式 refuses new orders and the checkout of open ones', async () => {
  const reader = await backend.reader();
  const { id } = await order(reader);
  await reader.put('/user/minor', { pin: '2580' });
  expect(await orderAgain(reader, id)).toMatchObject({ status: 'expired', checkout_url: null });
  const form = { package_id: 'p60', client_id: randomUUID() };
  const refused = await reader.post<ErrorDto>('/orders', form);
  expect([refused.status, refused.body]).toEqual([
    403,
    { message: '未成年人模式：不能充值', code: 'minor_mode', reason: 'recharge' },
  ]);
  await reader.post('/user/minor/unlock', { pin: '2580', off: true });
  expect((await reader.post('/orders', form)).status).toBe(201);
});
