import { randomUUID } from 'node:crypto';
import { generateCookie, getCookie, setCookie } from 'hono/cookie';
import { type FrontContext, isHttps } from './front.ts';

const visitorCookie = 'lz_visitor';
const overrideCookie = 'lz_override';
const localCookie = 'lz_local';
const DAY_SECONDS = 24 * 3600;
const visitorId = /^[0-9a-f]{32}$/;
const overrideId = /^[\w-]{1,64}$/;

/** The visitor's id, if a page has set one. */
export function knownVisitor(context: FrontContext): string | undefined {
  const id = getCookie(context, visitorCookie);
  return id && visitorId.test(id) ? id : undefined;
}

const attributesOf = (context: FrontContext, days: number) =>
  ({ path: '/', httpOnly: true, sameSite: 'Lax', maxAge: days * DAY_SECONDS, secure: isHttps(context) }) as const;

/** Creates a first-party id, which keeps a visitor in one canary bucket, and the `Set-Cookie` that stores it. */
export function newVisitor(context: FrontContext): { id: string; cookie: string } {
  // too random to guess an id of another bucket; drawn from a pool, unlike single bytes
  const id = randomUUID().replaceAll('-', '');
  return { id, cookie: generateCookie(visitorCookie, id, attributesOf(context, 365)) };
}

export function overrideOf(context: FrontContext): string | undefined {
  const id = getCookie(context, overrideCookie);
  return id && overrideId.test(id) ? id : undefined;
}

/** Enters or leaves an override (`?override=<id>` or `?override=off`). */
export function chooseOverride(context: FrontContext, id: string): void {
  const isLeaving = id === 'off';
  // the release store decides when it ends, after seven days at most; the cookie has only its id
  setCookie(context, overrideCookie, isLeaving ? '' : id, attributesOf(context, isLeaving ? 0 : 7));
}

/** On https, the prefix of the name keeps other hosts of the domain from setting the cookie. */
const localPrefix = (context: FrontContext) => (isHttps(context) ? ('host' as const) : undefined);
const secretForm = /^[0-9a-f]{64}$/;

/** A browser's agreement to remotes from dev servers. */
export interface LocalChoice {
  /** Known only to this browser; permissions name its hash. */
  secret: string;
  /** What the user has agreed to run, as `stories@http://localhost:3101`; empty before. */
  agreed: string[];
}

export function localChoiceOf(context: FrontContext): LocalChoice | null {
  const [secret = '', ...agreed] = (getCookie(context, localCookie, localPrefix(context)) ?? '').split(' ');
  return secretForm.test(secret) ? { secret, agreed } : null;
}

export function setLocalChoice(context: FrontContext, { secret, agreed }: LocalChoice) {
  // as long as a permission can last; the release store is checked each time
  const attributes = { ...attributesOf(context, 7), prefix: localPrefix(context) };
  setCookie(context, localCookie, [secret, ...agreed].join(' '), attributes);
}
