import { createHash, randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import * as v from 'valibot';
import type { Clock } from './clock.ts';
import { type AppEnv, HttpError, isOwnOrigin } from './http/http.ts';
import { text, validate } from './http/input.ts';
import type { Services } from './services.ts';
import type { Log } from './telemetry.ts';

/** A WeChat Official Account, for the JS-SDK. */
export interface WechatApp {
  id: string;
  secret: string;
  /** origin of WeChat's API */
  origin: string;
}

const TIMEOUT_MS = 5_000;
/** A ticket is renewed this long before it expires, so that it is still valid when a page uses it. */
const MARGIN_SECONDS = 300;
/** Delay after a refusal, since WeChat limits the calls per day. */
const RETRY_DELAY_MS = 60_000;

const seconds = v.pipe(v.number(), v.minValue(0));
const tokenAnswer = v.object({ access_token: v.string(), expires_in: seconds });
const ticketAnswer = v.object({ ticket: v.string(), expires_in: seconds });

/** Creates a client that fetches a ticket when one is needed and caches it until shortly before it expires. */
export function createWechat({ id, secret, origin }: WechatApp, clock: Clock, log: Log) {
  let ticket: Promise<string> | null = null;
  let freshUntil = 0;

  async function call<Schema extends v.GenericSchema>(schema: Schema, path: string, body?: object) {
    const method = body ? 'POST' : 'GET';
    const response = await fetch(`${origin}/cgi-bin/${path}`, {
      method,
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer: unknown = await response.json();
    const parsed = v.safeParse(schema, answer);
    if (parsed.success) return parsed.output;
    const { errcode, errmsg } = v.parse(v.object({ errcode: v.unknown(), errmsg: v.unknown() }), answer);
    throw new Error(`${errcode} ${String(errmsg).slice(0, 200)}`);
  }

  async function fetchTicket(): Promise<string> {
    const credentials = { grant_type: 'client_credential', appid: id, secret };
    // unlike `token`, this endpoint does not invalidate the tokens of other servers
    const { access_token } = await call(tokenAnswer, 'stable_token', credentials);
    const query = new URLSearchParams({ access_token, type: 'jsapi' });
    const { ticket, expires_in } = await call(ticketAnswer, `ticket/getticket?${query}`);
    freshUntil = clock() + Math.max(0, expires_in - MARGIN_SECONDS) * 1000;
    return ticket;
  }

  return {
    appId: id,
    /** Returns the ticket for signatures. Throws if WeChat refuses it. */
    ticket(): Promise<string> {
      if (ticket && clock() < freshUntil) return ticket;
      freshUntil = clock() + RETRY_DELAY_MS;
      ticket = fetchTicket();
      ticket.catch((error: Error) => log.warn({ said: error.message }, 'wechat: no ticket for signatures'));
      return ticket;
    },
  };
}

export type Wechat = ReturnType<typeof createWechat>;

const signatureQuery = v.object({ url: v.pipe(text(1, 2_000), v.url()) });

/** Signs with WeChat's algorithm for `wx.config`: the fields in the order of their names. */
export const wechatSignature = (ticket: string, nonce: string, timestamp: number, url: string): string =>
  createHash('sha1').update(`jsapi_ticket=${ticket}&noncestr=${nonce}&timestamp=${timestamp}&url=${url}`).digest('hex');

/** Signs URLs of the product's own pages. Throws 422 for others, and 503 without a ticket. */
export function wechatRoutes({ env, clock }: Services, wechat: Wechat): Hono<AppEnv> {
  return new Hono<AppEnv>().get('/signature', async (c) => {
    const [url = ''] = validate(signatureQuery, c.req.query()).url.split('#');
    if (!isOwnOrigin(new URL(url).origin, c.get('source'), env.APP_ORIGIN))
      throw new HttpError(422, { message: '只能为本站的页面签名', errors: { url: ['只能为本站的页面签名'] } });
    const ticket = await wechat.ticket().catch(() => {
      throw new HttpError(503, { message: '微信暂时没有回应' }, { 'Retry-After': String(RETRY_DELAY_MS / 1000) });
    });
    const nonce = randomBytes(12).toString('hex');
    const timestamp = Math.floor(clock() / 1000);
    const signature = wechatSignature(ticket, nonce, timestamp, url);
    return c.json({ data: { app_id: wechat.appId, timestamp, nonce_str: nonce, signature } });
  });
}
