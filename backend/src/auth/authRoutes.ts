import { networkOf } from '@liaozhai/http/source';
import { Hono } from 'hono';
import * as v from 'valibot';
import { MINUTE_MS } from '../clock.ts';
import { query } from '../db/database.ts';
import type { UserRow } from '../db/schema.ts';
import { knownDevice } from '../http/cookies.ts';
import { type AppEnv, forbidden, type Http, identityOf, invalid, isVerified, unverified } from '../http/http.ts';
import { readInput, validate } from '../http/input.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { randomToken, sha256 } from '../signatures.ts';
import { runOrReport } from '../telemetry.ts';
import { bindEmail } from '../users/accountEmail.ts';
import { findByEmail, findByLogin, findUser, presentUser, userUpdate } from '../users/user.ts';
import {
  confirmLogin,
  emailAddress,
  givenPassword,
  hashPassword,
  loginName,
  newPassword,
  register,
  registrationForm,
  verifyPassword,
} from './accounts.ts';
import { confirmedAddress, originOf, sendLink, sendVerification } from './mail.ts';
import { endSession, endSessions, startSession } from './sessions.ts';

/** Limits for a name from all addresses, and for a network with all names, as multiples of `RATE_LIMIT_LOGIN`. */
const [perName, perNetwork] = [4, 6];

const loginForm = v.object({ login: loginName, password: givenPassword });

export function authRoutes(services: Services): Hono<AppEnv> {
  const { clock, limits, env } = services;
  return new Hono<AppEnv>()
    .post('/register', async (c) => {
      const form = validate(registrationForm, readInput(c));
      limits.consume(`register:${c.get('source').ip}`, env.RATE_LIMIT_REGISTER);
      const user = await register(services, form);
      startSession(c, services, user);
      if (user.is_email) sendVerification(c, services, user, user.login);
      return c.json({ user: presentUser(user, clock()), type: user.is_email ? 'email' : 'username' }, 201);
    })
    .post('/login', async (c) => {
      const form = validate(loginForm, readInput(c));
      const user = findByLogin(services, form.login);
      // counted before the slow check, so that parallel guesses do not all pass; a bound email address counts as its login
      const releaseAttempt = countAttempt(c, services, user?.login ?? form.login, user);
      const isMatch = await verifyPassword(services.db, user?.password_hash, form.password);
      if (!user || !isMatch) throw invalid({ login: ['用户名或密码不正确'] });
      releaseAttempt();
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
 * Counts a sign-in attempt. Throws 429. A browser that the account knows has its own limit. All others share three: per
 * name and address, per name, and per network. Returns a function to call when the password was right.
 */
function countAttempt(c: Http, services: Services, login: string, user: UserRow | undefined): () => void {
  const { limits, env, appKey } = services;
  const { RATE_LIMIT_LOGIN: limit } = env;
  const device = user ? knownDevice(c, appKey, user) : null;
  if (user && device) {
    const deviceKey = `login:${user.id}|device ${device}`;
    limits.consume(deviceKey, limit);
    return () => limits.clear(deviceKey);
  }
  const { ip } = c.get('source');
  const networkKey = `login:${networkOf(ip)}`;
  const nameKeys = [`login:${login}|${ip}`, `login:${login}|everywhere`] as const;
  limits.consume(networkKey, limit * perNetwork);
  limits.consume(nameKeys[0], limit);
  limits.consume(nameKeys[1], limit * perName);
  return () => {
    // gives back only this attempt: an attacker could clear the limit by signing in to an account of their own
    limits.restore(networkKey);
    for (const name of nameKeys) limits.clear(name);
  };
}

export function emailRoutes(services: Services): Hono<AppEnv> {
  const { db, limits, env } = services;
  return new Hono<AppEnv>()
    .get('/verify/:id/:hash', (c) => {
      const { id, hash } = c.req.param();
      const { expires = '', signature = '' } = c.req.query();
      const user = db.find('users', { id });
      const address = user && confirmedAddress(services, user, { hash, expires, signature });
      if (!user || !address) throw forbidden('链接无效或已过期');
      if (address === user.pending_email) bindEmail(services, user, address);
      else confirmLogin(services, user);
      return c.json({ message: '邮箱已确认' });
    })
    .post('/verification-notification/resend', (c) => {
      const { user } = identityOf(c);
      limits.consume(`resend:${user.id}`, env.RATE_LIMIT_RESEND);
      if (!isVerified(user)) sendVerification(c, services, user, user.login);
      return c.json({ message: '确认邮件已发送' }, 202);
    });
}

/** Minimum time between two reset mails to one account. */
const MAIL_PAUSE_MS = MINUTE_MS;

const forgotForm = v.object({ email: emailAddress });

const resetForm = v.object({
  token: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  email: emailAddress,
  password: newPassword,
});

/** Routes for a forgotten password, with the paths and response shapes of Laravel. */
export function passwordResetRoutes(services: Services): Hono<AppEnv> {
  const { db, clock, limits, env } = services;
  return new Hono<AppEnv>()
    .post('/forgot-password', (c) => {
      const { email } = validate(forgotForm, readInput(c));
      limits.consume(`forgot:${networkOf(c.get('source').ip)}`, env.RATE_LIMIT_RESEND);
      // after the response, so that its time does not reveal whether the address is registered
      setImmediate(() =>
        runOrReport(services, () => {
          const origin = originOf(c, services);
          const user = findByEmail(services, email);
          if (user) mailReset(services, user, email, origin);
        }),
      );
      return c.json({ message: '如果这个邮箱属于一个账号，重设密码的链接已经发出' });
    })
    .post('/reset-password', async (c) => {
      const { token, email, password } = validate(resetForm, readInput(c));
      limits.consume(`reset:${networkOf(c.get('source').ip)}`, env.RATE_LIMIT_PASSWORD);
      const user = findByEmail(services, email);
      const deletion = query
        .deleteFrom('password_resets')
        .where((where) => where.and({ user_id: user?.id ?? '', token_hash: sha256(token) }))
        .where('expires_at', '>', clock());
      // hashed first, so that the link is used up in the same transaction that changes the password
      const password_hash = await hashPassword(db, password);
      db.transaction(() => {
        if (!user || db.run(deletion) === 0) throw invalid({ email: ['链接无效或已过期，请重新获取'] });
        db.run(userUpdate({ password_hash }).where('id', '=', user.id));
        endSessions(services, user.id);
        if (user.is_email) confirmLogin(services, user);
      });
      const changedUser = findUser(services, user?.id ?? '');
      startSession(c, services, changedUser);
      return c.json({ user: presentUser(changedUser, clock()) });
    });
}

/** Mails a reset link and revokes the former one. Does nothing if a link was sent less than `MAIL_PAUSE_MS` ago. */
function mailReset(services: Services, user: UserRow, email: string, origin: string): void {
  const { db, clock } = services;
  const now = clock();
  const formerReset = db.find('password_resets', { user_id: user.id });
  if (formerReset && now - formerReset.created_at < MAIL_PAUSE_MS) return;
  const token = randomToken();
  const reset = {
    token_hash: sha256(token),
    created_at: now,
    expires_at: now + rules.resetLinkMinutes * MINUTE_MS,
  };
  db.upsert('password_resets', { user_id: user.id }, reset);
  const link = `${origin}/reset-password?token=${token}&email=${encodeURIComponent(email)}`;
  const text = `${user.name}，你好：\n\n你的用户名是 ${user.login}。请打开下面的链接，设一个新密码（${rules.resetLinkMinutes} 分钟内有效，只能用一次）：\n\n${link}\n\n设好后，其他设备上的登录都会失效。如果不是你本人要求的，请忽略这封邮件，密码不会改变。`;
  sendLink(services, { to: email, subject: '重设密码', text }, link);
}
