import { dayMs } from '../clock.ts';
import { query } from '../db/database.ts';
import type { UserRow } from '../db/schema.ts';
import { clearSessionCookie, rememberDevice, sessionToken, setSessionCookie } from '../http/cookies.ts';
import { setCsrfCookie } from '../http/csrf.ts';
import type { Http, Identity } from '../http/http.ts';
import { announceSessionEnd } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { randomToken, sha256 } from '../signatures.ts';

/** Who the session cookie of a request belongs to; null for visitors and ended sessions. */
export function findIdentity({ db, clock }: Services, token: string): Identity | null {
  if (!token) return null;
  const sessionHash = sha256(token);
  const user = db.first<UserRow>(
    query
      .selectFrom('users')
      .innerJoin('sessions', 'sessions.user_id', 'users.id')
      .selectAll('users')
      .where('sessions.token_hash', '=', sessionHash)
      .where('sessions.expires_at', '>', clock()),
  );
  return user ? { user, sessionHash } : null;
}

/** Starts a session under a new id, ends the one this browser had before, and remembers the browser. */
export function startSession(c: Http, services: Services, user: UserRow): void {
  const { db, clock } = services;
  endCurrentSession(c, services);
  const token = randomToken();
  const now = clock();
  const expires_at = now + rules.sessionLifetimeDays * dayMs;
  db.transaction(() => {
    endAll(services, query.deleteFrom('sessions').where('expires_at', '<=', now));
    db.run(
      query.insertInto('sessions').values({ token_hash: sha256(token), user_id: user.id, created_at: now, expires_at }),
    );
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
  const token = sessionToken(c);
  if (token) endAll(services, query.deleteFrom('sessions').where('token_hash', '=', sha256(token)));
}

/** Ends every session of a user except one, with their sockets. */
export function endOtherSessions(services: Services, userId: string, keptHash: string): void {
  endAll(services, query.deleteFrom('sessions').where('user_id', '=', userId).where('token_hash', '!=', keptHash));
}

/** Ends every session of a user, with their sockets. */
export function endAllSessions(services: Services, userId: string): void {
  endAll(services, query.deleteFrom('sessions').where('user_id', '=', userId));
}

/** Takes the right to listen from whoever holds these sessions. */
function endAll(services: Services, deletion: ReturnType<typeof query.deleteFrom<'sessions'>>): void {
  const { db, broadcaster } = services;
  const ended = db.all(deletion.returning(['token_hash', 'user_id']));
  for (const userId of new Set(ended.map(({ user_id }) => user_id))) announceSessionEnd(services, userId);
  for (const { token_hash } of ended) db.afterCommit(() => broadcaster.closeSession(token_hash));
}
