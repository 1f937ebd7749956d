import { Hono } from 'hono';
import { sql } from 'kysely';
import * as v from 'valibot';
import { gender, givenPassword, hashPassword, newPassword, verifyPassword } from '../auth/accounts.ts';
import { endOtherSessions } from '../auth/sessions.ts';
import { query } from '../db/database.ts';
import { rememberDevice } from '../http/cookies.ts';
import { type AppEnv, identityOf, userOf } from '../http/http.ts';
import { invalid } from '../http/httpError.ts';
import { readInput, text, validate } from '../http/input.ts';
import { announceUser } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findUser, presentUser } from './user.ts';

const profileForm = ({ content }: Services) =>
  v.object({
    name: v.optional(text(1, rules.nameCharacters)),
    avatar: v.nullish(
      v.pipe(
        v.string(),
        v.check((url) => content.avatars.includes(url), '不在可选范围内'),
      ),
    ),
    gender,
    persona: v.optional(v.pipe(v.nullable(v.string(), ''), text(0, rules.personaCharacters))),
  });

const passwordChange = v.pipe(
  v.object({
    current_password: givenPassword,
    password: newPassword,
    password_confirmation: v.string(),
  }),
  v.forward(
    v.check((form) => form.password === form.password_confirmation, '与新密码不一致'),
    ['password_confirmation'],
  ),
);

export function userRoutes(services: Services): Hono<AppEnv> {
  const { db, clock, limits, env } = services;
  const profile = profileForm(services);
  return new Hono<AppEnv>()
    .get('/', (c) => c.json({ data: presentUser(userOf(c), clock()) }))
    .put('/', async (c) => {
      const user = userOf(c);
      limits.take(`write:${user.id}`, env.RATE_LIMIT_WRITES);
      const changes = validate(profile, await readInput(c));
      db.transaction(() => {
        db.run(
          query
            .updateTable('users')
            .set({ ...changes, version: sql`version + 1` })
            .where('id', '=', user.id),
        );
        announceUser(services, user.id);
      });
      return c.json({ data: presentUser(findUser(services, user.id), clock()) });
    })
    .put('/password', async (c) => {
      const user = userOf(c);
      limits.take(`password:${user.id}`, env.RATE_LIMIT_PASSWORD);
      const form = validate(passwordChange, await readInput(c));
      if (!(await verifyPassword(user.password_hash, form.current_password))) {
        throw invalid({ current_password: ['当前密码不正确'] });
      }
      const password_hash = await hashPassword(form.password);
      db.transaction(() => {
        db.run(query.updateTable('users').set({ password_hash, version: sql`version + 1` }).where('id', '=', user.id));
        endOtherSessions(services, user.id, identityOf(c).sessionHash);
      });
      rememberDevice(c, services.appKey, { id: user.id, password_hash });
      return c.body(null, 204);
    });
}
