import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { Limiter } from '@liaozhai/http/rate-limit';
import { isSameHost, originOf, type Source, sourceOf as sourceBehind } from '@liaozhai/http/source';
import type { Context } from 'hono';
import type { UserRow } from '../db/schema.ts';
import type { Services } from '../services.ts';

/** The signed-in user and their session. */
export interface Identity {
  user: UserRow;
  /** raw value of the session cookie */
  token: string;
  sessionHash: string;
}

export interface AppEnv {
  Bindings: HttpBindings;
  Variables: { source: Source; identity: Identity | null; requestId: string; body: string };
}

export type Http = Context<AppEnv>;

/** Returns the signed-in user, verified or not. Throws 401. */
export function identityOf(c: Http): Identity {
  const identity = c.get('identity');
  if (!identity) throw unauthenticated();
  return identity;
}

export const isVerified = (user: UserRow): boolean => user.is_email === 0 || user.email_verified_at !== null;

/** Returns the signed-in user. Throws 401, or 403 while the email address is unconfirmed. */
export function userOf(c: Http): UserRow {
  const { user } = identityOf(c);
  if (!isVerified(user)) throw unverified();
  return user;
}

/** Returns the signed-in user and counts the call against `RATE_LIMIT_WRITES`. Throws 401, 403 and 429. */
export function writingUser(c: Http, { limits, env }: Pick<Services, 'limits' | 'env'>): UserRow {
  const user = userOf(c);
  limits.consume(`write:${user.id}`, env.RATE_LIMIT_WRITES);
  return user;
}

/** An error response. `body` has the shape of Laravel's errors. */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    readonly body: { message: string } & Record<string, unknown>,
    readonly headers: Record<string, string> = {},
  ) {
    super(body.message);
  }
}

const unauthenticated = () => new HttpError(401, { message: '请先登录' });
export const forbidden = (message = '没有权限') => new HttpError(403, { message });
export const unverified = () => new HttpError(403, { message: '请先完成邮箱确认', code: 'email_unverified' });
export const notFound = (message = '没有找到') => new HttpError(404, { message });
export const conflict = (code: string, message: string) => new HttpError(409, { message, code });
export const gone = (message: string) => new HttpError(410, { message });
export const tooLarge = () => new HttpError(413, { message: '内容过大' });
export const pageExpired = () => new HttpError(419, { message: '页面已过期，请重试' });

/** 503 while the server shuts down. The request can be repeated after `Retry-After`. */
export const restarting = () => new HttpError(503, { message: '服务正在重新启动，请稍候再试' }, { 'Retry-After': '2' });

export const insufficientBalance = (required: number, balance: number) =>
  new HttpError(402, { message: '余额不足，请先充值', code: 'insufficient_balance', required, balance });

/** 409 if a call costs more than the reader was shown. `rules` are the current prices. */
export const priceChanged = (price: number, rules: object) =>
  new HttpError(409, { message: `价格变了，现在要 ${price} 点，还没有扣点`, code: 'price_changed', price, rules });

export function tooMany(retryAfterSeconds: number): HttpError {
  const wait = retryAfterSeconds < 120 ? `${retryAfterSeconds} 秒` : `${Math.ceil(retryAfterSeconds / 60)} 分钟`;
  return new HttpError(429, { message: `操作太频繁，请 ${wait}后再试` }, { 'Retry-After': String(retryAfterSeconds) });
}

/** 422 with messages per field. The first one is the headline, as in Laravel. */
export function invalid(errors: Record<string, string[]>): HttpError {
  const all = Object.values(errors).flat();
  const rest = all.length > 1 ? `（还有 ${all.length - 1} 处错误）` : '';
  return new HttpError(422, { message: `${all[0] ?? '内容有误'}${rest}`, errors });
}

/** Rate limits that throw 429 with `Retry-After`. */
export class RequestLimits {
  constructor(private readonly limiter: Limiter) {}

  consume(key: string, perMinute: number): void {
    const seconds = this.limiter.take(key, perMinute);
    if (seconds > 0) throw tooMany(seconds);
  }

  restore(key: string): void {
    this.limiter.giveBack(key);
  }

  clear(key: string): void {
    this.limiter.clear(key);
  }
}

const isLoopback = (address = ''): boolean => /^(::ffff:)?127\./.test(address) || address === '::1';

/** Trusts forwarded headers only from a proxy on this machine, or, with `trustsAll`, from any peer. */
export const sourceOf = (request: Pick<IncomingMessage, 'headers' | 'socket'>, trustsAll: boolean): Source =>
  sourceBehind(request, trustsAll || isLoopback(request.socket.remoteAddress));

/** Whether an `Origin` is the product's own: a configured one, or, without any, the host of the request. */
export function isOwnOrigin(origin: string, source: Source, allowed: string[]): boolean {
  return allowed.length > 0 ? allowed.includes(origin) : isSameHost(origin, source);
}

/** Returns the origin for links to the product: the first configured one, or that of the request. */
export const productOrigin = (source: Source, configured: string[]): string => configured[0] ?? originOf(source);
