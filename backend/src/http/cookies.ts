import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { rules } from '../rules.ts';
import { hmac, randomToken, sameText } from '../signatures.ts';
import type { Http } from './http.ts';

const isSecure = (c: Http): boolean => c.get('source').scheme === 'https';

/** On https the `__Host-` prefix keeps subdomains from planting a session. */
const sessionCookie = (c: Http): string => (isSecure(c) ? '__Host-liaozhai_session' : 'liaozhai_session');

/** The session cookie's raw value; empty for a visitor. */
export const sessionToken = (c: Http): string => getCookie(c, sessionCookie(c)) ?? '';

export function setSessionCookie(c: Http, token: string): void {
  const maxAge = rules.sessionLifetimeDays * 86_400;
  setCookie(c, sessionCookie(c), token, { path: '/', httpOnly: true, sameSite: 'Lax', secure: isSecure(c), maxAge });
}

export function clearSessionCookie(c: Http): void {
  deleteCookie(c, sessionCookie(c), { path: '/', secure: isSecure(c) });
}

interface Account {
  id: string;
  password_hash: string;
}

/** As many accounts as a browser is remembered for. */
const remembered = 5;

const deviceCookie = (c: Http): string => (isSecure(c) ? '__Host-liaozhai_device' : 'liaozhai_device');

/** A new password makes every device unknown, a stolen cookie's included. */
const sign = (appKey: string, device: string, { id, password_hash }: Account): string =>
  hmac(appKey, `device|${device}|${id}|${password_hash}`);

function readDevice(c: Http): { device: string; signatures: string[] } {
  const [device = '', ...signatures] = (getCookie(c, deviceCookie(c)) ?? '').split('.');
  return { device, signatures: signatures.slice(0, remembered) };
}

/**
 * The id of the browser a request comes from, if this account has signed in with it before; else null. It proves nothing but that:
 * who has it may try passwords although others at the same address, or all over the world, have used up theirs.
 */
export function knownDevice(c: Http, appKey: string, account: Account): string | null {
  const { device, signatures } = readDevice(c);
  const wanted = sign(appKey, device, account);
  return signatures.some((signature) => sameText(signature, wanted)) ? device : null;
}

/** Remembers that the account has signed in with this browser. */
export function rememberDevice(c: Http, appKey: string, account: Account): void {
  const { device: known, signatures } = readDevice(c);
  const device = known || randomToken();
  const mine = sign(appKey, device, account);
  const others = signatures.filter((signature) => signature !== mine);
  const value = [device, mine, ...others].slice(0, remembered + 1).join('.');
  const maxAge = rules.deviceLifetimeDays * 86_400;
  setCookie(c, deviceCookie(c), value, { path: '/', httpOnly: true, sameSite: 'Lax', secure: isSecure(c), maxAge });
}
