import { Hono } from 'hono';
import { sql } from 'kysely';
import * as v from 'valibot';
import { assertCurrentPassword, givenPassword } from '../auth/accounts.ts';
import { endSessions } from '../auth/sessions.ts';
import { deleteConversation } from '../chat/chatRoutes.ts';
import { conversationsOf } from '../chat/conversation.ts';
import { DAY_MS, isoTimeOrNull, shanghaiDate } from '../clock.ts';
import { query } from '../db/database.ts';
import type { UserRow } from '../db/schema.ts';
import { type AppEnv, identityOf, isVerified, userOf, writingUser } from '../http/http.ts';
import { readInput, validate } from '../http/input.ts';
import { announceUser } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { addressOf } from './accountEmail.ts';
import { forgetInGifts } from './invites.ts';
import { findUser, userUpdate } from './user.ts';

const deletionForm = v.object({ current_password: givenPassword });

export function accountDeletionRoutes(services: Services): Hono<AppEnv> {
  const { db, clock, limits, env, mailer } = services;
  return new Hono<AppEnv>()
    .post('/', async (c) => {
      const user = userOf(c);
      const form = validate(deletionForm, readInput(c));
      limits.consume(`deletion:${user.id}`, env.RATE_LIMIT_PASSWORD);
      await assertCurrentPassword(db, user, form.current_password);
      db.transaction(() => {
        const schedule = userUpdate({ delete_at: clock() + rules.deletionDays * DAY_MS }).where('id', '=', user.id);
        if (db.run(schedule.where('delete_at', 'is', null)) === 0) return;
        endSessions(services, user.id, identityOf(c).sessionHash);
        announceUser(services, user.id);
        const to = addressOf(user);
        if (to !== null && isVerified(user))
          db.afterCommit(() => {
            const day = shanghaiDate(findUser(services, user.id).delete_at ?? 0);
            const text = `${user.name}，你好：\n\n你的账号 ${user.login} 将于 ${day} 注销，对话、人设和点数到时一并删除，不能找回。\n\n改了主意，或者这不是你本人的操作，请在那之前登录，按「撤销」；再到「个人资料」修改密码。`;
            mailer.send({ to, subject: '账号将被注销', text });
          });
      });
      return c.json({ data: { deletion_at: isoTimeOrNull(findUser(services, user.id).delete_at) } });
    })
    .delete('/', (c) => {
      const user = writingUser(c, services);
      db.transaction(() => {
        const cancellation = userUpdate({ delete_at: null }).where('id', '=', user.id);
        if (db.run(cancellation.where('delete_at', 'is not', null)) > 0) announceUser(services, user.id);
      });
      return c.body(null, 204);
    });
}

const MAX_ERASURES = 20;

export function eraseDueAccounts(services: Services): void {
  const { db, clock } = services;
  const dueAccounts = query.selectFrom('users').selectAll().where('delete_at', '<=', clock());
  for (const { id } of db.all(dueAccounts.limit(MAX_ERASURES))) {
    db.transaction(() => {
      // another backend may have erased it, or its deletion may have been cancelled
      const user = db.first(dueAccounts.where('id', '=', id));
      if (user) erase(services, user);
    });
  }
}

/** Tables and columns that the law requires to be preserved. Their ids no longer identify a person. */
const retainedTables = ['transactions', 'orders'];
const retainedUserColumns = ['id', 'balance', 'version', 'created_at'];

/** Deletes a person's data. The row itself stays without personal data, since the ledger references it. */
function erase(services: Services, { id, invited_by }: UserRow): void {
  const { db } = services;
  for (const conversation of db.all(conversationsOf(id))) deleteConversation(services, conversation);
  endSessions(services, id);
  const columns = db.columns();
  // every table with users' rows, including those of later features
  for (const { table, name } of columns)
    if (name === 'user_id' && !retainedTables.includes(table))
      db.run({ compile: () => sql`delete from ${sql.table(table)} where user_id = ${id}`.compile(query) });
  const anonymized = query.updateTable('transactions').set({ description: '邀请好友' }).where('type', '=', 'invite');
  db.run(anonymized.where('user_id', '=', id).where('ref_type', '=', 'invitee'));
  if (invited_by) db.run(anonymized.where('user_id', '=', invited_by).where('ref_key', '=', `invitee:${id}`));
  forgetInGifts(services, id);
  const erasedUser = {
    login: `erased:${id}`,
    is_email: 0,
    name: '已注销',
    password_hash: '',
    invite_code: `erased:${id}`,
  };
  const clearedColumns = columns
    .filter(({ table, name }) => table === 'users' && !(name in erasedUser) && !retainedUserColumns.includes(name))
    .map((column) => sql`${sql.ref(column.name)} = ${sql.raw(column.default ?? 'null')}`);
  db.run({ compile: () => sql`update users set ${sql.join(clearedColumns)} where id = ${id}`.compile(query) });
  db.run(userUpdate(erasedUser).where('id', '=', id));
}
