import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { rules } from '../rules.ts';
import type { Http } from './http.ts';

const isSecure = (c: Http): boolean => c.get('source').scheme === 'https';

/** On https the `__Host-` prefix keeps subdomains from planting a session. */
const cookieName = (c: Http): string => (isSecure(c) ? '__Host-liaozhai_session' : 'liaozhai_session');

/** The session cookie's raw value; empty for a visitor. */
export const sessionToken = (c: Http): string => getCookie(c, cookieName(c)) ?? '';

export function setSessionCookie(c: Http, token: string): void {
  const maxAge = rules.sessionLifetimeDays * 86_400;
  setCookie(c, cookieName(c), token, { path: '/', httpOnly: true, sameSite: 'Lax', secure: isSecure(c), maxAge });
}

export function clearSessionCookie(c: Http): void {
  deleteCookie(c, cookieName(c), { path: '/', secure: isSecure(c) });
}
