import { randomUUID } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import * as v from 'valibot';
import { firstAvatar } from '../content/content.ts';
import type { Db } from '../db/database.ts';
import type { UserRow } from '../db/schema.ts';
import { invalid } from '../http/http.ts';
import { text } from '../http/input.ts';
import { announceUser } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { findInviter, newInviteCode, rewardInvite } from '../users/invites.ts';
import { findByLogin, findUser, userUpdate } from '../users/user.ts';
import { book } from '../wallet.ts';

const username = /^[a-z0-9_]{3,32}$/;
const email = /^(?=.{1,120}$)[\w+'-]+(?:\.[\w+'-]+)*(?<!')@(?:[a-z\d][a-z\d-]*\.)+[a-z]{2,}$/;
const isEmail = (login: string): boolean => email.test(login);

export const emailAddress = v.pipe(v.string(), v.trim(), v.toLowerCase(), v.check(isEmail, '格式不正确'));

/**
 * Reserved user names. Readers could mistake some for the team. Others have a special meaning in programs, for example
 * as a key of an object.
 */
const reservedNames = new Set(
  [
    ...Object.getOwnPropertyNames(Object.prototype),
    ...['prototype', 'null', 'undefined', 'true', 'false', 'nan', 'infinity', 'none', 'nil'],
    ...['admin', 'administrator', 'root', 'system', 'official', 'moderator', 'support', 'kefu', 'liaozhai', 'noreply'],
  ].map((name) => name.toLowerCase()),
);

/** User name or email address. Names are case-insensitive. */
export const loginName = v.pipe(v.string(), v.trim(), v.toLowerCase(), v.minLength(1), v.maxLength(120));

export const newPassword = v.pipe(
  v.string(),
  v.minLength(rules.passwordCharacters.min),
  v.maxLength(rules.passwordCharacters.max),
);

/** A password to verify, which may be older than the present minimum length. */
export const givenPassword = v.pipe(v.string(), v.minLength(1), v.maxLength(rules.passwordCharacters.max));

export const gender = v.nullish(v.picklist(['male', 'female']));

export const registrationForm = v.object({
  login: v.pipe(
    loginName,
    v.check((login) => username.test(login) || isEmail(login), '须为 3–32 位字母、数字、下划线，或一个邮箱'),
    v.check((login) => !reservedNames.has(login), '不能用这个，请换一个'),
  ),
  password: newPassword,
  name: text(1, rules.nameCharacters),
  gender,
  consent_version: v.fallback(v.nullish(v.pipe(v.string(), v.maxLength(32))), null),
  invite_code: v.fallback(v.nullish(v.pipe(v.string(), v.maxLength(32))), null),
});

/** Creates an account and books its sign-up gift. Throws 422 if the name is already registered. */
export async function register(services: Services, form: v.InferOutput<typeof registrationForm>): Promise<UserRow> {
  const { db, clock } = services;
  const password_hash = await hashPassword(db, form.password);
  return db.transaction(() => {
    if (findByLogin(services, form.login)) {
      throw invalid({ login: ['这个用户名已被注册'] });
    }
    const id = randomUUID();
    const isMail = isEmail(form.login);
    db.insert('users', {
      id,
      login: form.login,
      is_email: Number(isMail),
      name: form.name,
      avatar: firstAvatar(services.content, id),
      gender: form.gender ?? null,
      persona: '',
      password_hash,
      balance: 0,
      invite_code: newInviteCode(services),
      invited_by: findInviter(services, form.invite_code)?.id ?? null,
      check_in_streak: 0,
      consent_version: form.consent_version || null,
      consented_at: form.consent_version ? clock() : null,
      version: 1,
      created_at: clock(),
    });
    const ref = { type: 'registration', id };
    book(services, {
      userId: id,
      type: 'gift',
      amount: services.env.prices.signUpGift,
      description: '新人见面礼',
      ref,
      key: `registration:${id}`,
    });
    if (!isMail) rewardInvite(services, findUser(services, id));
    return findUser(services, id);
  });
}

/** Confirms the account's email address. Returns whether it was unconfirmed before. */
export function confirmLogin(services: Services, user: UserRow): boolean {
  const { db, clock } = services;
  return db.transaction(() => {
    const confirmation = userUpdate({ email_verified_at: clock() }).where('id', '=', user.id);
    if (db.run(confirmation.where('email_verified_at', 'is', null)) === 0) return false;
    rewardInvite(services, user);
    announceUser(services, user.id);
    return true;
  });
}

/** Argon2id with 12 MiB and three passes, as OWASP recommends. It takes under 60 ms on a small shared machine. */
const hashOptions = { memoryCost: 12 * 1024, timeCost: 3, parallelism: 1 };

/** Hash that is verified for unknown names, so that the response time does not reveal whether a name exists. */
const unknownUserHash = await hash('nobody has this password', hashOptions);

/** Hashes a password. Resolves once `db` is writable, since another process may have locked it in the meantime. */
export async function hashPassword(db: Db, password: string): Promise<string> {
  const passwordHash = await hash(password, hashOptions);
  await db.writable();
  return passwordHash;
}

/**
 * Verifies a password. Resolves once `db` is writable.
 * @param storedHash the user's hash; undefined for an unknown user, empty for an erased one. Neither ever matches.
 */
export async function verifyPassword(db: Db, storedHash: string | undefined, password: string): Promise<boolean> {
  const isMatch = await verify(storedHash || unknownUserHash, password);
  await db.writable();
  return isMatch && Boolean(storedHash);
}

/** Throws 422 if the password that a form asks for again is not the user's. */
export async function assertCurrentPassword(db: Db, user: UserRow, current_password: string): Promise<void> {
  if (!(await verifyPassword(db, user.password_hash, current_password)))
    throw invalid({ current_password: ['当前密码不正确'] });
}
