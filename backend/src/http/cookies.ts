import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import { DAY_MS } from '../clock.ts';
import type { UserRow } from '../db/schema.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { hmac, randomToken, sameText } from '../signatures.ts';
import { type AppEnv, type Http, isOwnOrigin, pageExpired } from './http.ts';

const isSecure = (c: Http): boolean => c.get('source').scheme === 'https';

/** On HTTPS the `__Host-` prefix prevents subdomains from setting a session. */
const sessionCookie = (c: Http): string => (isSecure(c) ? '__Host-liaozhai_session' : 'liaozhai_session');

/** Maximum number of cookies of one name that are read. A browser sends one for each path and parent domain. */
const MAX_COOKIES_OF_A_NAME = 6;

/** Returns each session cookie's value. On HTTP, one of another path or domain may exist that no response removes. */
export const sessionTokens = (c: Http): string[] =>
  (c.req.header('cookie') ?? '')
    .split(';')
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie.startsWith(`${sessionCookie(c)}=`))
    .map((cookie) => cookie.slice(cookie.indexOf('=') + 1))
    .slice(0, MAX_COOKIES_OF_A_NAME);

/** Returns the token of the valid session; empty for a visitor. */
export const sessionToken = (c: Http): string => c.get('identity')?.token ?? '';

const DAY_SECONDS = DAY_MS / 1000;
const sessionSeconds = rules.sessionLifetimeDays * DAY_SECONDS;

export function setSessionCookie(c: Http, token: string): void {
  const secure = isSecure(c);
  setCookie(c, sessionCookie(c), token, { path: '/', httpOnly: true, sameSite: 'Lax', secure, maxAge: sessionSeconds });
}

export function clearSessionCookie(c: Http): void {
  deleteCookie(c, sessionCookie(c), { path: '/', secure: isSecure(c) });
}

type Account = Pick<UserRow, 'id' | 'password_hash'>;

/** Maximum number of accounts per device cookie. */
const MAX_ACCOUNTS = 5;

const deviceCookie = (c: Http): string => (isSecure(c) ? '__Host-liaozhai_device' : 'liaozhai_device');

/** Signs the password hash, too, so that a new password invalidates every device, also one with a stolen cookie. */
const sign = (appKey: string, device: string, { id, password_hash }: Account): string =>
  hmac(appKey, `device|${device}|${id}|${password_hash}`);

function readDevice(c: Http): { device: string; signatures: string[] } {
  const [device = '', ...signatures] = (getCookie(c, deviceCookie(c)) ?? '').split('.');
  return { device, signatures: signatures.slice(0, MAX_ACCOUNTS) };
}

/**
 * Returns the id of the request's browser if this account has signed in with it before; else null. It grants nothing
 * but a rate limit of its own, which guesses from other browsers do not use up.
 */
export function knownDevice(c: Http, appKey: string, account: Account): string | null {
  const { device, signatures } = readDevice(c);
  const expectedSignature = sign(appKey, device, account);
  return signatures.some((signature) => sameText(signature, expectedSignature)) ? device : null;
}

export function rememberDevice(c: Http, appKey: string, account: Account): void {
  const { device: storedDevice, signatures } = readDevice(c);
  const device = storedDevice || randomToken();
  const ownSignature = sign(appKey, device, account);
  const others = signatures.filter((signature) => signature !== ownSignature);
  const value = [device, ownSignature, ...others].slice(0, MAX_ACCOUNTS + 1).join('.');
  const maxAge = rules.deviceLifetimeDays * DAY_SECONDS;
  setCookie(c, deviceCookie(c), value, { path: '/', httpOnly: true, sameSite: 'Lax', secure: isSecure(c), maxAge });
}

const cookieName = 'XSRF-TOKEN';
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Bound to the session cookie, so that a token from another site or user is invalid. */
const csrfSignature = (appKey: string, nonce: string, session: string): string =>
  hmac(appKey, `csrf|${nonce}|${session}`);

/** Sets a new token for the session (empty = visitor). By its cookie a page without storage detects a session. */
export function setCsrfCookie(c: Http, appKey: string, session: string): void {
  const nonce = randomToken();
  const secure = isSecure(c);
  const persistence = session === '' ? {} : { maxAge: sessionSeconds };
  const value = `${nonce}.${csrfSignature(appKey, nonce, session)}`;
  setCookie(c, cookieName, value, { path: '/', sameSite: 'Lax', secure, ...persistence });
}

/** Refuses (419) changes that another site could have caused. */
export const csrfGuard = ({ appKey, env }: Services) =>
  createMiddleware<AppEnv>(async (c, next) => {
    if (!safeMethods.has(c.req.method) && !isOwnRequest(c, appKey, env.APP_ORIGIN)) throw pageExpired();
    await next();
  });

function isOwnRequest(c: Http, appKey: string, allowedOrigins: string[]): boolean {
  const origin = c.req.header('origin');
  if (origin !== undefined && !isOwnOrigin(origin, c.get('source'), allowedOrigins)) return false;
  if (c.req.header('sec-fetch-site') === 'cross-site') return false;
  const token = c.req.header('x-xsrf-token') ?? '';
  const [nonce = '', signature = ''] = token.split('.');
  // without a valid session, the token of a visitor or of an ended session is accepted
  const sessions = sessionToken(c) ? [sessionToken(c)] : ['', ...sessionTokens(c)];
  return (
    sameText(token, getCookie(c, cookieName) ?? '') &&
    sessions.some((session) => sameText(signature, csrfSignature(appKey, nonce, session)))
  );
}
