import { Hono } from 'hono';
import { sql } from 'kysely';
import * as v from 'valibot';
import { query } from '../db/database.ts';
import { type AppEnv, identityOf, isVerified } from '../http/http.ts';
import { forbidden, invalid, unverified } from '../http/httpError.ts';
import { readInput, validate } from '../http/input.ts';
import { announceUser } from '../realtime/events.ts';
import type { Services } from '../services.ts';
import { presentUser } from '../users/user.ts';
import { givenPassword, loginName, register, registrationForm, rewardInvite, verifyPassword } from './accounts.ts';
import { isValidLink, sendVerification } from './mail.ts';
import { endSession, startSession } from './sessions.ts';

const loginForm = v.object({ login: loginName, password: givenPassword });

/** Registration, login and logout. */
export function authRoutes(services: Services): Hono<AppEnv> {
  const { db, clock, limits, env } = services;
  return new Hono<AppEnv>()
    .post('/register', async (c) => {
      const form = validate(registrationForm, await readInput(c));
      limits.take(`register:${c.get('source').ip}`, env.RATE_LIMIT_REGISTER);
      const user = await register(services, form);
      startSession(c, services, user.id);
      if (user.is_email) sendVerification(c, services, user);
      return c.json({ user: presentUser(user, clock()), type: user.is_email ? 'email' : 'username' }, 201);
    })
    .post('/login', async (c) => {
      const form = validate(loginForm, await readInput(c));
      // Attempts count before the slow check, or parallel guesses would all pass it.
      const keys = [`login:${form.login}|${c.get('source').ip}`, `login:${form.login}`];
      limits.take(keys[0] ?? '', env.RATE_LIMIT_LOGIN);
      limits.take(keys[1] ?? '', env.RATE_LIMIT_LOGIN * 4);
      const user = db.first(query.selectFrom('users').selectAll().where('login', '=', form.login));
      const matches = await verifyPassword(user?.password_hash, form.password);
      if (!user || !matches) throw invalid({ login: ['用户名或密码不正确'] });
      for (const key of keys) limits.clear(key);
      startSession(c, services, user.id);
      if (!isVerified(user)) throw unverified();
      return c.json({ user: presentUser(user, clock()) });
    })
    .post('/logout', (c) => {
      identityOf(c);
      endSession(c, services);
      return c.body(null, 204);
    });
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
