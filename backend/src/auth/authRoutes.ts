import { Hono } from 'hono';
import { sql } from 'kysely';
import * as v from 'valibot';
import { query } from '../db/database.ts';
import type { UserRow } from '../db/schema.ts';
import { knownDevice } from '../http/cookies.ts';
import { type AppEnv, type Http, identityOf, isVerified } from '../http/http.ts';
import { forbidden, invalid, unverified } from '../http/httpError.ts';
import { readInput, validate } from '../http/input.ts';
import { networkOf } from '../http/origin.ts';
import { announceUser } from '../realtime/events.ts';
import type { Services } from '../services.ts';
import { rewardInvite } from '../users/invites.ts';
import { presentUser } from '../users/user.ts';
import { givenPassword, loginName, register, registrationForm, verifyPassword } from './accounts.ts';
import { isValidLink, sendVerification } from './mail.ts';
import { endSession, startSession } from './sessions.ts';

/** How many times the attempts for one name at one address there are for a name everywhere, and for a network with all names. */
const [perName, perNetwork] = [4, 6];

const loginForm = v.object({ login: loginName, password: givenPassword });

/** Registration, login and logout. */
export function authRoutes(services: Services): Hono<AppEnv> {
  const { db, clock, limits, env } = services;
  return new Hono<AppEnv>()
    .post('/register', async (c) => {
      const form = validate(registrationForm, await readInput(c));
      limits.take(`register:${c.get('source').ip}`, env.RATE_LIMIT_REGISTER);
      const user = await register(services, form);
      startSession(c, services, user);
      if (user.is_email) sendVerification(c, services, user);
      return c.json({ user: presentUser(user, clock()), type: user.is_email ? 'email' : 'username' }, 201);
    })
    .post('/login', async (c) => {
      const form = validate(loginForm, await readInput(c));
      const user = db.first(query.selectFrom('users').selectAll().where('login', '=', form.login));
      // before the slow check, or parallel guesses would all pass it
      const succeeded = countAttempt(c, services, form.login, user);
      const matches = await verifyPassword(user?.password_hash, form.password);
      if (!user || !matches) throw invalid({ login: ['用户名或密码不正确'] });
      succeeded();
      startSession(c, services, user);
      if (!isVerified(user)) throw unverified();
      return c.json({ user: presentUser(user, clock()) });
    })
    .post('/logout', (c) => {
      identityOf(c);
      endSession(c, services);
      return c.body(null, 204);
    });
}

/**
 * Counts one attempt to sign in; throws 429. A browser the account knows has a count of its own. All others share three: of the name
 * at one address, of the name everywhere, and of one network for all names. Returns what to call when the password was right.
 */
function countAttempt(c: Http, services: Services, login: string, user: UserRow | undefined): () => void {
  const { limits, env, appKey } = services;
  const { RATE_LIMIT_LOGIN: few } = env;
  const device = user ? knownDevice(c, appKey, user) : null;
  if (user && device) {
    const own = `login:${user.id}|device ${device}`;
    limits.take(own, few);
    return () => limits.clear(own);
  }
  const { ip } = c.get('source');
  const network = `login:${networkOf(ip)}`;
  const names = [`login:${login}|${ip}`, `login:${login}|everywhere`] as const;
  limits.take(network, few * perNetwork);
  limits.take(names[0], few);
  limits.take(names[1], few * perName);
  return () => {
    // an account of the guesser's own must not buy more guesses
    limits.giveBack(network);
    for (const name of names) limits.clear(name);
  };
}

/** The confirmation link and its resending. */
export function emailRoutes(services: Services): Hono<AppEnv> {
  const { db, clock, limits, env } = services;
  return new Hono<AppEnv>()
    .get('/verify/:id/:hash', (c) => {
      const { id, hash } = c.req.param();
      const { expires = '', signature = '' } = c.req.query();
      const user = db.first(query.selectFrom('users').selectAll().where('id', '=', id));
      if (!user || !isValidLink(services, user, hash, expires, signature)) throw forbidden('链接无效或已过期');
      db.transaction(() => {
        const now = clock();
        const verified = query.updateTable('users').set({ email_verified_at: now, version: sql`version + 1` });
        const changed = db.run(verified.where('id', '=', id).where('email_verified_at', 'is', null));
        if (changed === 0) return;
        rewardInvite(services, user);
        announceUser(services, id);
      });
      return c.json({ message: '邮箱已确认' });
    })
    .post('/verification-notification/resend', (c) => {
      const { user } = identityOf(c);
      limits.take(`resend:${user.id}`, env.RATE_LIMIT_RESEND);
      if (!isVerified(user)) sendVerification(c, services, user);
      return c.json({ message: '确认邮件已发送' }, 202);
    });
}
