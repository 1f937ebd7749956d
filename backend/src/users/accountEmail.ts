import { Hono } from 'hono';
import * as v from 'valibot';
import { assertCurrentPassword, emailAddress, givenPassword } from '../auth/accounts.ts';
import { sendVerification } from '../auth/mail.ts';
import { HOUR_MS, isoTimeOrNull } from '../clock.ts';
import { query } from '../db/database.ts';
import type { UserRow } from '../db/schema.ts';
import { type AppEnv, conflict, forbidden, type Http, invalid, userOf } from '../http/http.ts';
import { readInput, validate } from '../http/input.ts';
import { announceUser } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findByLogin, findUser, userUpdate } from './user.ts';

const emailChange = v.object({ email: emailAddress, current_password: givenPassword });

/** Returns the account's email address; null for a user name without one. */
export const addressOf = (user: UserRow): string | null => (user.is_email ? user.login : user.email);

/** Returns the address to confirm; null without one and after its link has expired. */
function pendingAddressOf(user: UserRow, now: number): string | null {
  const isCurrent = (user.pending_email_at ?? 0) + rules.verificationLinkHours * HOUR_MS > now;
  return isCurrent ? user.pending_email : null;
}

/** Routes that show and change the account's email address. */
export function accountEmailRoutes(services: Services): Hono<AppEnv> {
  const { db, clock, limits, env } = services;
  const present = (id: string) => {
    const user = findUser(services, id);
    const email = addressOf(user);
    const pending = pendingAddressOf(user, clock());
    return {
      data: {
        email,
        verified_at: email === null ? null : isoTimeOrNull(user.email_verified_at),
        pending: pending === null ? null : { email: pending, sent_at: isoTimeOrNull(user.pending_email_at) },
      },
    };
  };
  return new Hono<AppEnv>()
    .get('/', (c) => c.json(present(userOf(c).id)))
    .put('/', async (c) => {
      const user = userOf(c);
      const form = validate(emailChange, readInput(c));
      limits.consume(`email:${user.id}`, env.RATE_LIMIT_PASSWORD);
      await assertCurrentPassword(db, user, form.current_password);
      if (form.email === addressOf(user)) throw invalid({ email: ['这已经是你的邮箱'] });
      mailTo(c, user, form.email);
      return c.json(present(user.id), 202);
    })
    .post('/resend', (c) => {
      const user = userOf(c);
      const pending = pendingAddressOf(user, clock());
      if (pending === null) throw conflict('nothing_pending', '没有等待确认的邮箱，请重新填写');
      limits.consume(`resend:${user.id}`, env.RATE_LIMIT_RESEND);
      mailTo(c, user, pending);
      return c.json(present(user.id), 202);
    });

  /** Mails the link, or, for a registered address, a notice to its owner. The response does not reveal the difference. */
  function mailTo(c: Http, user: UserRow, email: string): void {
    const pending = { pending_email: email, pending_email_at: clock() };
    db.update('users', { id: user.id }, pending);
    if (findByLogin(services, email)) services.mailer.send(takenNotice(email));
    else sendVerification(c, services, user, email);
  }
}

/** Sets the address whose link was opened. Throws 403 if another account has it by now. */
export function bindEmail(services: Services, user: UserRow, email: string): void {
  const { db, clock, mailer } = services;
  const formerAddress = addressOf(user);
  db.transaction(() => {
    if (findByLogin(services, email)) throw forbidden('链接无效或已过期');
    const boundAddress = user.is_email ? { login: email } : { email };
    const confirmation = { email_verified_at: clock(), pending_email: null, pending_email_at: null };
    db.run(userUpdate({ ...boundAddress, ...confirmation }).where('id', '=', user.id));
    // revokes a link that was sent to the old address
    db.run(query.deleteFrom('password_resets').where('user_id', '=', user.id));
    announceUser(services, user.id);
    if (formerAddress !== null) db.afterCommit(() => void mailer.send(movedNotice(user, formerAddress, email)));
  });
}

const takenNotice = (to: string) => ({
  to,
  subject: '这个邮箱已在使用',
  text: '你好：\n\n有人想把这个邮箱绑定到另一个账号，但它已经属于一个账号，所以什么也没有改变。\n\n如果是你本人，请先用这个邮箱登录原来的账号，或在登录窗口点「忘记密码？」。如果不是，请忽略这封邮件。',
});

const movedNotice = (user: UserRow, to: string, email: string) => ({
  to,
  subject: '账号的邮箱已更换',
  text: `${user.name}，你好：\n\n你的账号的邮箱已换成 ${email}，这个邮箱不再能用来登录或找回密码。\n\n如果不是你本人的操作，请立刻联系客服。`,
});
