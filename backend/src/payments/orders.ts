import { Hono } from 'hono';
import * as v from 'valibot';
import { datedNumber, isoTime, isoTimeOrNull, MINUTE_MS } from '../clock.ts';
import { query } from '../db/database.ts';
import type { OrderRow, UserRow } from '../db/schema.ts';
import {
  type AppEnv,
  conflict,
  forbidden,
  HttpError,
  invalid,
  notFound,
  productOrigin,
  userOf,
  writingUser,
} from '../http/http.ts';
import { requiredKey } from '../http/idempotency.ts';
import { id, readInput, readPage, validate } from '../http/input.ts';
import { notifyUser } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { hmac, sameText } from '../signatures.ts';
import { assertMayPay } from '../users/minor.ts';
import { book } from '../wallet.ts';

/** A webhook's event for an order. */
export interface PaymentEvent {
  /** stable across repeated deliveries */
  id: string;
  orderId: string;
  outcome: 'paid' | 'failed';
  amountCents: number;
}

/** The port to a payment provider. Amounts are cents of CNY. */
export interface PaymentProvider {
  /** segment of the webhook's path: lower-case letters, digits and hyphens */
  readonly id: string;
  /** name for readers, also on the receipt */
  readonly title: string;
  /**
   * Returns the provider's page for an order. A repeated call must not return a page on which it can be paid twice.
   * @param returnUrl URL of the page that waits for the credit
   */
  createCheckout(order: OrderRow, returnUrl: string): Promise<{ url: string }>;
  /** Parses a webhook; `raw` is its unchanged body. Throws 403 if its signature is wrong or expired. */
  verifyWebhook(raw: string, headers: Headers): PaymentEvent;
  /** The provider's own pages, below `/api/payments/{id}`. */
  readonly pages?: Hono<AppEnv>;
  /** Starts background work once this server listens at `url`. Returns a function that stops it. */
  start?(url: string): () => void;
}

/** Returns `t=<seconds>,v1=<hex>`, an HMAC-SHA-256 of time and raw body, as Stripe signs. */
export const signatureOf = (secret: string, raw: string, seconds: number): string =>
  `t=${seconds},v1=${hmac(secret, `${seconds}.${raw}`)}`;

/** Throws 403 unless `signature` matches the body and is within `rules.webhookToleranceSeconds` of `now`, in ms. */
export function verifySignature(secret: string, raw: string, signature: string | null, now: number): void {
  const seconds = Number(/^t=(\d{1,12}),/.exec(signature ?? '')?.[1] ?? Number.NaN);
  if (!sameText(signature ?? '', signatureOf(secret, raw, seconds))) throw forbidden('签名不正确');
  if (Math.abs(now / 1000 - seconds) > rules.webhookToleranceSeconds) throw forbidden('签名已过期');
}

const isUnpaid = ({ status }: OrderRow): boolean => status === 'created' || status === 'pending';

const isOpen = (row: OrderRow, now: number): boolean => isUnpaid(row) && now < row.expires_at;

function presentOrder(row: OrderRow, now: number) {
  return {
    id: row.id,
    client_id: row.client_id,
    package_id: row.package_id,
    points: row.points,
    price_cents: row.price_cents,
    currency: 'CNY',
    status: isUnpaid(row) && now >= row.expires_at ? 'expired' : row.status,
    method: row.method,
    checkout_url: isOpen(row, now) ? row.checkout_url : null,
    created_at: isoTime(row.created_at),
    expires_at: isoTime(row.expires_at),
    paid_at: isoTimeOrNull(row.paid_at),
    credited_at: isoTimeOrNull(row.credited_at),
  };
}

/** Throws 403 in a mode without recharge, and 409 for too many open orders. No other code decides this. */
function assertMayRecharge({ db, clock }: Services, user: UserRow): void {
  assertMayPay(user);
  const openOrders = db.all(
    query
      .selectFrom('orders')
      .select('id')
      .where('user_id', '=', user.id)
      .where('created_at', '>', clock() - rules.orderMinutes * MINUTE_MS)
      .where('status', 'in', ['created', 'pending'])
      .limit(rules.openOrders),
  );
  if (openOrders.length >= rules.openOrders)
    throw conflict('too_many_orders', '未付款的订单太多，请先付款，或等它们过期');
}

const orderForm = v.object({ package_id: id });

/** Returns the order of the client id, or creates it. Throws 409 and 422. */
function placeOrder(services: Services, provider: PaymentProvider, user: UserRow, clientId: string, packageId: string) {
  const { db, clock, env } = services;
  return db.transaction((): OrderRow => {
    const existingOrder = db.find('orders', { user_id: user.id, client_id: clientId });
    if (existingOrder && existingOrder.package_id !== packageId)
      throw invalid({ client_id: ['请求编号已用于另一个请求'] });
    if (existingOrder) return existingOrder;
    const offer = env.packages.find((each) => each.id === packageId);
    if (!offer) throw invalid({ package_id: ['没有这个充值档位，请刷新后再选'] });
    assertMayRecharge(services, user);
    const order: OrderRow = {
      id: datedNumber(clock, 8, (number) => db.find('orders', { id: number }) !== undefined),
      user_id: user.id,
      client_id: clientId,
      package_id: offer.id,
      points: offer.points,
      price_cents: offer.priceCents,
      provider: provider.id,
      method: provider.title,
      status: 'created',
      checkout_url: null,
      created_at: clock(),
      expires_at: clock() + rules.orderMinutes * MINUTE_MS,
      paid_at: null,
      credited_at: null,
    };
    db.insert('orders', order);
    return order;
  });
}

/** Stores the provider's page. The status of an order that was paid in the meantime is left unchanged. Throws 503. */
async function openCheckout(services: Services, provider: PaymentProvider, order: OrderRow, origin: string) {
  const { db, report } = services;
  const returnUrl = `${origin}/my/wallet/orders/${order.id}`;
  const checkout = await provider.createCheckout(order, returnUrl).catch((error: unknown) => {
    report(error, { order: order.id, provider: provider.id });
    throw new HttpError(503, { message: '暂时连不上付款方，没有扣款，请稍后再试' }, { 'Retry-After': '5' });
  });
  db.update('orders', { id: order.id, status: 'created' }, { status: 'pending', checkout_url: checkout.url });
}

export function orderRoutes(services: Services, provider: PaymentProvider): Hono<AppEnv> {
  const { db, clock, env } = services;
  return new Hono<AppEnv>()
    .post('/', async (c) => {
      const user = writingUser(c, services);
      const input = readInput(c);
      const key = requiredKey(c, input);
      const { package_id } = validate(orderForm, input);
      const order = placeOrder(services, provider, user, key, package_id);
      if (order.status === 'created' && isOpen(order, clock())) {
        await openCheckout(services, provider, order, productOrigin(c.get('source'), env.APP_ORIGIN));
      }
      return c.json({ data: presentOrder(db.find('orders', { id: order.id }) ?? order, clock()) }, 201);
    })
    .get('/', (c) => {
      const orders = query.selectFrom('orders').selectAll().where('user_id', '=', userOf(c).id);
      const present = (rows: OrderRow[]) => rows.map((row) => presentOrder(row, clock()));
      const page = readPage(c, services, orders, ['created_at', 'id'], present);
      const packages = env.packages.map(({ priceCents: price_cents, label = null, ...offer }) => ({
        ...offer,
        price_cents,
        label,
      }));
      return c.json({ ...page, meta: { ...page.meta, packages, method: provider.title } });
    })
    .get('/:id', (c) => {
      const user = userOf(c);
      const order = db.find('orders', { id: c.req.param('id') });
      if (order?.user_id !== user.id) throw notFound('没有找到这笔订单');
      return c.json({ data: presentOrder(order, clock()) });
    });
}

/** Routes for providers and their pages, without session and CSRF token. */
export function paymentRoutes(services: Services): Hono<AppEnv> {
  const { payments } = services;
  const routes = new Hono<AppEnv>();
  if (!payments) return routes;
  if (payments.pages) routes.route(`/payments/${payments.id}`, payments.pages);
  return routes.post('/v1/payments/webhook/:provider', (c) => {
    if (c.req.param('provider') !== payments.id) throw notFound('没有这个付款方');
    const event = payments.verifyWebhook(c.get('body'), c.req.raw.headers);
    return c.json(applyPayment(services, payments.id, event));
  });
}

/**
 * Applies a webhook's event once. A payment is credited, also to an order that has expired or failed. A repeated event
 * gets the stored response.
 */
function applyPayment(services: Services, provider: string, event: PaymentEvent): object {
  const { db, clock, log } = services;
  return db.transaction(() => {
    const existing = db.find('payment_events', { provider, event_id: event.id });
    if (existing) return JSON.parse(existing.answer) as object;
    const order = db.find('orders', { id: event.orderId });
    if (order?.provider !== provider) {
      log.warn({ order: event.orderId, provider }, 'a payment for an unknown order');
      throw notFound('没有找到这笔订单');
    }
    if (event.amountCents !== order.price_cents) {
      log.error(
        { order: order.id, provider, came: event.amountCents, price: order.price_cents },
        'a payment of another amount',
      );
      throw conflict('amount_mismatch', '金额与订单不符');
    }
    const settledOrder = event.outcome === 'paid' ? creditOrder(services, order) : failOrder(services, order);
    const answer = { data: { order_id: order.id, status: settledOrder.status } };
    db.insert('payment_events', {
      provider,
      event_id: event.id,
      order_id: order.id,
      answer: JSON.stringify(answer),
      created_at: clock(),
    });
    return answer;
  });
}

function creditOrder(services: Services, order: OrderRow): OrderRow {
  if (order.status === 'credited') return order;
  const now = services.clock();
  book(services, {
    userId: order.user_id,
    type: 'recharge',
    amount: order.points,
    description: `充值 ${order.points} 点`,
    ref: { type: 'order', id: order.id },
  });
  return changeOrder(services, order, { status: 'credited', paid_at: now, credited_at: now });
}

/** Marks an open order as failed. A failure after the payment, or a second one, is ignored. */
const failOrder = (services: Services, order: OrderRow): OrderRow =>
  isUnpaid(order) ? changeOrder(services, order, { status: 'failed' }) : order;

/** Expires the user's open orders. A payment that still arrives is credited. */
export function endOpenOrders(services: Services, userId: string): void {
  const now = services.clock();
  const openOrders = query.selectFrom('orders').selectAll().where('user_id', '=', userId).where('expires_at', '>', now);
  for (const order of services.db.all(openOrders.where('status', 'in', ['created', 'pending'])))
    changeOrder(services, order, { expires_at: now });
}

/** Stores the changes of an order and notifies the user's pages. */
function changeOrder(services: Services, order: OrderRow, changes: Partial<OrderRow>): OrderRow {
  const changedOrder = { ...order, ...changes };
  services.db.update('orders', { id: order.id }, changes);
  notifyUser(services, order.user_id, 'order.updated', { order: presentOrder(changedOrder, services.clock()) });
  return changedOrder;
}
