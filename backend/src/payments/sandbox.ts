import { Hono } from 'hono';
import { html, raw } from 'hono/html';
import { sql } from 'kysely';
import * as v from 'valibot';
import { query } from '../db/database.ts';
import type { SandboxCheckoutRow } from '../db/schema.ts';
import { type AppEnv, forbidden, type Http } from '../http/http.ts';
import { readInput } from '../http/input.ts';
import type { Services } from '../services.ts';
import { randomToken, sha256 } from '../signatures.ts';
import { type PaymentEvent, type PaymentProvider, signatureOf, verifySignature } from './orders.ts';

/** Delays before each retry of a webhook. After the last one it is sent again at the next start. */
const retryPausesMs = [1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000];
const ANSWER_TIMEOUT_MS = 10_000;

const eventSchema = v.object({
  id: v.string(),
  type: v.picklist(['payment.succeeded', 'payment.failed']),
  order_id: v.string(),
  amount_cents: v.number(),
});

/** Condition worded as in the partial index. */
const isUndelivered = sql<boolean>`outcome is not null and delivered_at is null`;

type SandboxServices = Pick<Services, 'env' | 'clock' | 'report' | 'db'>;

/** Creates a provider that takes no money. Its page lets the reader choose the outcome that its webhook reports. */
export function createSandbox({ env, clock, report, db }: SandboxServices, secret: string): PaymentProvider {
  /** null while deliveries are stopped */
  let ownUrl: string | null = null;
  const timers = new Set<NodeJS.Timeout>();

  const findCheckout = (token: string) => db.find('sandbox_checkouts', { token });

  function deliverIn(pauseMs: number, token: string, attempt: number): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      deliver(token, attempt).catch(report);
    }, pauseMs).unref();
    timers.add(timer);
  }

  async function deliver(token: string, attempt: number): Promise<void> {
    const checkout = findCheckout(token);
    if (ownUrl === null || !checkout || checkout.outcome === null || checkout.delivered_at !== null) return;
    const raw = JSON.stringify(webhookOf(checkout));
    const isAccepted = await fetch(`${ownUrl}/api/v1/payments/webhook/sandbox`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'Payment-Signature': signatureOf(secret, raw, Math.floor(clock() / 1000)),
      },
      body: raw,
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    }).then(
      ({ ok }) => ok,
      () => false,
    );
    // the server and its database may have been closed in the meantime
    if (ownUrl === null) return;
    const pauseMs = retryPausesMs[attempt];
    if (isAccepted) {
      db.update('sandbox_checkouts', { token }, { delivered_at: clock() });
    } else if (pauseMs !== undefined) deliverIn(pauseMs, token, attempt + 1);
  }

  /** Stores the reader's choice. Only the first one counts. */
  function decide(token: string, outcome: 'paid' | 'failed'): void {
    const changedRows = db.run(
      query
        .updateTable('sandbox_checkouts')
        .set({ outcome })
        .where('token', '=', token)
        .where('outcome', 'is', null)
        .where('expires_at', '>', clock()),
    );
    if (changedRows > 0) deliverIn(env.PAYMENT_SANDBOX_DELAY_MS, token, 0);
  }

  const pages = new Hono<AppEnv>()
    .get('/:token', (c) => {
      const checkout = findCheckout(c.req.param('token'));
      return showPage(c, checkout, checkout ? stateOf(checkout, clock()) : 'unknown');
    })
    .post('/:token', (c) => {
      const checkout = findCheckout(c.req.param('token'));
      if (!checkout) return showPage(c, checkout, 'unknown');
      const { outcome } = readInput(c);
      if (outcome === 'paid' || outcome === 'failed') decide(checkout.token, outcome);
      return c.redirect(checkout.return_url, 303);
    });

  return {
    id: 'sandbox',
    title: '沙盒付款',
    pages,
    async createCheckout({ id: order_id, points, price_cents, expires_at }, return_url) {
      db.run(
        query
          .insertInto('sandbox_checkouts')
          .values({ token: randomToken(), order_id, points, price_cents, return_url, expires_at })
          .onConflict((conflict) => conflict.column('order_id').doNothing()),
      );
      const { token } = db.find('sandbox_checkouts', { order_id }) ?? {};
      return { url: `${new URL(return_url).origin}/api/payments/sandbox/${token}` };
    },
    verifyWebhook(raw, headers): PaymentEvent {
      verifySignature(secret, raw, headers.get('payment-signature'), clock());
      const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), eventSchema), raw);
      if (!parsed.success) throw forbidden('通知的内容不正确');
      const { id, type, order_id, amount_cents } = parsed.output;
      const outcome = type === 'payment.succeeded' ? 'paid' : 'failed';
      return { id, orderId: order_id, outcome, amountCents: amount_cents };
    },
    start(url) {
      ownUrl = url;
      for (const { token } of db.all(query.selectFrom('sandbox_checkouts').select('token').where(isUndelivered))) {
        deliverIn(0, token, 0);
      }
      return () => {
        ownUrl = null;
        for (const timer of timers) clearTimeout(timer);
      };
    },
  };
}

/** Returns the same event, with the same id, for each delivery. */
function webhookOf({ token, order_id, price_cents, outcome }: SandboxCheckoutRow): v.InferOutput<typeof eventSchema> {
  const type = outcome === 'paid' ? 'payment.succeeded' : 'payment.failed';
  return { id: `evt_${sha256(`${token} ${type}`).slice(0, 24)}`, type, order_id, amount_cents: price_cents };
}

type PageState = 'open' | 'paid' | 'failed' | 'expired' | 'unknown';

const stateOf = ({ outcome, expires_at }: SandboxCheckoutRow, now: number): PageState =>
  outcome ?? (now < expires_at ? 'open' : 'expired');

const stateTexts = {
  paid: '这笔付款已经完成。',
  failed: '这笔付款没有成功。',
  expired: '付款时间已过，请回去重新下单。',
  unknown: '没有找到这笔付款。',
} as const;

const style = `
  :root { color-scheme: light dark; font: 17px/1.6 system-ui, "PingFang SC", "Noto Sans SC", sans-serif; }
  body { max-width: 400px; margin: 0 auto; padding: 40px 16px; background: light-dark(#f7f3ea, #14120f); color: light-dark(#1f1b16, #efe8da); }
  h1 { margin: 0 0 12px; font-size: 20px; }
  .notice { margin: 0 0 24px; padding: 12px 16px; border: 1px dashed currentcolor; border-radius: 12px; font-weight: 600; }
  .price { margin: 16px 0 0; font-size: 36px; font-variant-numeric: tabular-nums; }
  dl { display: grid; grid-template-columns: auto 1fr; gap: 4px 16px; margin: 8px 0 32px; font-size: 15px; }
  dt { opacity: .75; } dd { margin: 0; text-align: right; overflow-wrap: anywhere; }
  form { display: grid; gap: 12px; }
  button, a { display: block; min-height: 48px; padding: 10px 16px; border: 1px solid light-dark(#b3392f, #e5766a); border-radius: 999px; box-sizing: border-box;
    background: none; color: inherit; font: inherit; text-align: center; text-decoration: none; cursor: pointer; }
  button:first-child { background: light-dark(#b3392f, #e5766a); color: light-dark(#fff, #1c0f0d); }
  :focus-visible { outline: 2px solid currentcolor; outline-offset: 2px; }`;

/** Renders the page like another site's: without the product's styles and scripts, and not in a frame. */
function showPage(c: Http, checkout: SandboxCheckoutRow | undefined, state: PageState): Response | Promise<Response> {
  const nonce = randomToken();
  c.header(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  );
  c.header('Referrer-Policy', 'no-referrer');
  const facts =
    checkout &&
    html`<p class="price">¥${(checkout.price_cents / 100).toFixed(2)}</p>
      <dl><dt>商品</dt><dd>${checkout.points} 点</dd><dt>订单号</dt><dd>${checkout.order_id}</dd></dl>`;
  const choice =
    state === 'open'
      ? html`<form method="post">
          <button name="outcome" value="paid">付款成功</button>
          <button name="outcome" value="failed">付款失败</button>
          <button name="outcome" value="cancelled">取消</button>
        </form>`
      : html`<p role="status">${stateTexts[state]}</p><a href="${checkout?.return_url ?? '/my/wallet/recharge'}">返回</a>`;
  return c.html(
    html`<!doctype html><html lang="zh-CN"><head><meta charset="utf-8"><title>沙盒付款</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<style nonce="${nonce}">${raw(style)}</style></head>
<body><main><h1>沙盒付款</h1><p class="notice">沙盒付款，不会真的扣款</p>${facts}${choice}</main></body></html>`,
    checkout ? 200 : 404,
  );
}
