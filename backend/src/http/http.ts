import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { UserRow } from '../db/schema.ts';
import { unauthenticated, unverified } from './httpError.ts';
import type { Source } from './origin.ts';

/** A signed-in visitor: who, and by which session. */
export interface Identity {
  user: UserRow;
  sessionHash: string;
}

export interface AppEnv {
  Bindings: HttpBindings;
  Variables: { source: Source; identity: Identity | null; requestId: string };
}

export type Http = Context<AppEnv>;

/** The signed-in visitor, verified or not; throws 401. */
export function identityOf(c: Http): Identity {
  const identity = c.get('identity');
  if (!identity) throw unauthenticated();
  return identity;
}

export const isVerified = (user: UserRow): boolean => user.is_email === 0 || user.email_verified_at !== null;

/** The signed-in user; throws 401, or 403 while the e-mail address waits for its confirmation. */
export function userOf(c: Http): UserRow {
  const { user } = identityOf(c);
  if (!isVerified(user)) throw unverified();
  return user;
}
