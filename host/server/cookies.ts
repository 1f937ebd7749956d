import { randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

const visitorCookie = 'lz_visitor';
const overrideCookie = 'lz_override';
const daySeconds = 24 * 3600;
const visitorId = /^[0-9a-f]{32}$/;
const overrideId = /^[\w-]{1,64}$/;

/** The visitor's id, if a page has given them one. */
export function knownVisitor(context: Context): string | undefined {
  const id = getCookie(context, visitorCookie);
  return id && visitorId.test(id) ? id : undefined;
}

/** The first-party id that keeps a visitor in one canary bucket; made on the first visit. */
export function visitorOf(context: Context, secure: boolean): string {
  const known = knownVisitor(context);
  if (known) return known;
  // too random for a visitor to guess an id of another bucket
  const fresh = randomBytes(16).toString('hex');
  setCookie(context, visitorCookie, fresh, {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    maxAge: 365 * daySeconds,
    secure,
  });
  return fresh;
}

export function overrideOf(context: Context): string | undefined {
  const id = getCookie(context, overrideCookie);
  return id && overrideId.test(id) ? id : undefined;
}

/** Takes or leaves an override (`?override=<id>` or `?override=off`). Returns whether the id was well formed. */
export function chooseOverride(context: Context, id: string, secure: boolean): boolean {
  const leaving = id === 'off';
  if (!leaving && !overrideId.test(id)) return false;
  // releases decide when it ends, in seven days at the latest; the cookie only remembers which one
  setCookie(context, overrideCookie, leaving ? '' : id, {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    maxAge: leaving ? 0 : 7 * daySeconds,
    secure,
  });
  return true;
}
