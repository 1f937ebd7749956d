import { getCookie, setCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import type { Services } from '../services.ts';
import { hmac, randomToken, sameText } from '../signatures.ts';
import { sessionToken } from './cookies.ts';
import type { AppEnv, Http } from './http.ts';
import { pageExpired } from './httpError.ts';
import { isOwnOrigin } from './origin.ts';

const cookieName = 'XSRF-TOKEN';
const readOnly = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Bound to the session cookie, so that a token planted by another site or left from another user is worth nothing. */
const sign = (appKey: string, nonce: string, session: string): string => hmac(appKey, `csrf|${nonce}|${session}`);

/** Hands the browser a fresh token for the given session (empty = visitor). */
export function setCsrfCookie(c: Http, appKey: string, session: string): void {
  const nonce = randomToken();
  const secure = c.get('source').scheme === 'https';
  setCookie(c, cookieName, `${nonce}.${sign(appKey, nonce, session)}`, { path: '/', sameSite: 'Lax', secure });
}

/** Refuses (419) every change that another site could have caused. */
export const csrfGuard = ({ appKey, env }: Services) =>
  createMiddleware<AppEnv>(async (c, next) => {
    if (!readOnly.has(c.req.method) && !isOwnRequest(c, appKey, env.APP_ORIGIN)) throw pageExpired();
    await next();
  });

function isOwnRequest(c: Http, appKey: string, allowedOrigins: string[]): boolean {
  const origin = c.req.header('origin');
  if (origin !== undefined && !isOwnOrigin(origin, c.get('source'), allowedOrigins)) return false;
  if (c.req.header('sec-fetch-site') === 'cross-site') return false;
  const token = c.req.header('x-xsrf-token') ?? '';
  const [nonce = '', signature = ''] = token.split('.');
  return sameText(token, getCookie(c, cookieName) ?? '') && sameText(signature, sign(appKey, nonce, sessionToken(c)));
}
