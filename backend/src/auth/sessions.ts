import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { DAY_MS, isoTime, MINUTE_MS } from '../clock.ts';
import { query } from '../db/database.ts';
import type { UserRow } from '../db/schema.ts';
import { clearSessionCookie, rememberDevice, sessionTokens, setCsrfCookie, setSessionCookie } from '../http/cookies.ts';
import {
  type AppEnv,
  forbidden,
  type Http,
  type Identity,
  identityOf,
  notFound,
  userOf,
  writingUser,
} from '../http/http.ts';
import { cleanText } from '../http/input.ts';
import { notifyUser } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { randomToken, sha256 } from '../signatures.ts';
import { runOrReport } from '../telemetry.ts';

/** Returns the identity of the first valid session token; null if none is valid. */
export function findIdentity(services: Services, tokens: string[]): Identity | null {
  const { db, clock } = services;
  for (const token of tokens) {
    const sessionHash = sha256(token);
    const row = db.first<UserRow & { last_used_at: number }>(
      query
        .selectFrom('users')
        .innerJoin('sessions', 'sessions.user_id', 'users.id')
        .selectAll('users')
        .select('sessions.last_used_at')
        .where('sessions.token_hash', '=', sessionHash)
        .where('sessions.expires_at', '>', clock())
        .where('users.blocked_at', 'is', null),
    );
    if (!row) continue;
    const { last_used_at, ...user } = row;
    const noteUse = () => db.update('sessions', { token_hash: sessionHash }, { last_used_at: clock() });
    // a request that only reads must not fail while the database cannot be written
    if (clock() - last_used_at >= USE_STEP_MS) runOrReport(services, noteUse);
    return { user, token, sessionHash };
  }
  return null;
}

/** Precision of a session's last-used time. */
const USE_STEP_MS = 5 * MINUTE_MS;

const USER_AGENT_CHARACTERS = 300;

/** Starts a session, ends the browser's former one, and remembers the browser. Throws 403 for a blocked account. */
export function startSession(c: Http, services: Services, user: UserRow): void {
  if (user.blocked_at !== null) throw forbidden('这个账号已停用，有疑问请联系客服');
  const { db, clock } = services;
  endCurrentSession(c, services);
  const token = randomToken();
  const now = clock();
  const expires_at = now + rules.sessionLifetimeDays * DAY_MS;
  db.transaction(() => {
    endAll(services, query.deleteFrom('sessions').where('expires_at', '<=', now));
    db.insert('sessions', {
      token_hash: sha256(token),
      id: randomUUID(),
      user_id: user.id,
      user_agent: cleanText(c.req.header('user-agent') ?? '').slice(0, USER_AGENT_CHARACTERS),
      created_at: now,
      last_used_at: now,
      expires_at,
    });
  });
  setSessionCookie(c, token);
  rememberDevice(c, services.appKey, user);
  setCsrfCookie(c, services.appKey, token);
}

/** Ends this browser's session and closes the sockets it opened. */
export function endSession(c: Http, services: Services): void {
  endCurrentSession(c, services);
  clearSessionCookie(c);
  setCsrfCookie(c, services.appKey, '');
}

function endCurrentSession(c: Http, services: Services): void {
  const hashes = sessionTokens(c).map(sha256);
  if (hashes.length > 0) endAll(services, query.deleteFrom('sessions').where('token_hash', 'in', hashes));
}

/** Ends every session of a user, or every one except the current one, with their sockets. */
export function endSessions(services: Services, userId: string, currentHash = ''): void {
  endAll(services, query.deleteFrom('sessions').where('user_id', '=', userId).where('token_hash', '!=', currentHash));
}

/** Runs the deletion, and notifies and closes the sockets of the deleted sessions. Returns their number. */
function endAll(services: Services, deletion: ReturnType<typeof query.deleteFrom<'sessions'>>): number {
  const { db, broadcaster } = services;
  const endedSessions = db.all(deletion.returning(['token_hash', 'user_id']));
  // every page of a user checks its session, so that pages of the ended one stop listening
  const userIds = new Set(endedSessions.map(({ user_id }) => user_id));
  for (const userId of userIds) notifyUser(services, userId, 'session.ended', {});
  for (const { token_hash } of endedSessions) db.afterCommit(() => broadcaster.closeSession(token_hash));
  return endedSessions.length;
}

const MAX_DEVICES = 100;

/** Routes that list an account's sessions, the latest used first, and end one of them or all others. */
export function sessionRoutes(services: Services): Hono<AppEnv> {
  const { db, clock } = services;
  return new Hono<AppEnv>()
    .get('/', (c) => {
      const { id } = userOf(c);
      const { sessionHash } = identityOf(c);
      const rows = db.all(
        query
          .selectFrom('sessions')
          .selectAll()
          .where('user_id', '=', id)
          .where('expires_at', '>', clock())
          .orderBy('last_used_at', 'desc')
          .limit(MAX_DEVICES),
      );
      const present = (row: (typeof rows)[number]) => ({
        id: row.id,
        user_agent: row.user_agent,
        created_at: isoTime(row.created_at),
        last_used_at: isoTime(row.last_used_at),
        is_current: row.token_hash === sessionHash,
      });
      return c.json({ data: rows.map(present) });
    })
    .delete('/', (c) => {
      const { id } = writingUser(c, services);
      endSessions(services, id, identityOf(c).sessionHash);
      return c.body(null, 204);
    })
    .delete('/:id', (c) => {
      const user = writingUser(c, services);
      const deletion = query.deleteFrom('sessions').where('user_id', '=', user.id).where('id', '=', c.req.param('id'));
      if (endAll(services, deletion) === 0) throw notFound('没有找到这台设备');
      return c.body(null, 204);
    });
}
