import { sql, type UpdateObject } from 'kysely';
import { DAY_MS, isoTimeOrNull, shanghaiDate } from '../clock.ts';
import { query } from '../db/database.ts';
import type { Schema, UserRow } from '../db/schema.ts';
import { notFound } from '../http/http.ts';
import type { Services } from '../services.ts';
import { presentMinor } from './minor.ts';

/** Returns the user in the shape of the API. */
export function presentUser(row: UserRow, now: number) {
  return {
    id: row.id,
    name: row.name,
    username: row.login,
    avatar: row.avatar,
    gender: row.gender,
    balance: row.balance,
    invite_code: row.invite_code,
    persona: row.persona,
    email_verified_at: isoTimeOrNull(row.email_verified_at),
    consent_version: row.consent_version,
    consented_at: isoTimeOrNull(row.consented_at),
    checked_in_today: row.check_in_date === shanghaiDate(now),
    check_in_streak: currentStreak(row, now),
    gifts: JSON.parse(row.gifts),
    deletion_at: isoTimeOrNull(row.delete_at),
    unread_answers: row.unread_answers,
    unread_conversations: row.unread_conversations,
    minor: presentMinor(row, now),
    version: row.version,
  };
}

/** Returns the user with this email address, also if it is an unconfirmed login. */
export function findByEmail({ db }: Services, email: string): UserRow | undefined {
  return db.find('users', { login: email, is_email: 1 }) ?? db.find('users', { email });
}

/** Returns the user by login, or else by confirmed email address. */
export function findByLogin(services: Services, login: string): UserRow | undefined {
  return services.db.find('users', { login }) ?? findByEmail(services, login);
}

/** Returns the consecutive check-in days up to today, or up to yesterday before today's check-in. */
export function currentStreak(row: UserRow, now: number): number {
  const isAlive = row.check_in_date === shanghaiDate(now) || row.check_in_date === shanghaiDate(now - DAY_MS);
  return isAlive ? row.check_in_streak : 0;
}

/** Update of users that raises their version. The caller adds the condition and notifies their pages. */
export const userUpdate = (changes: UpdateObject<Schema, 'users'>) =>
  query.updateTable('users').set({ ...changes, version: sql`version + 1` });

export function findUser({ db }: Services, id: string): UserRow {
  const row = db.find('users', { id });
  if (!row) throw notFound();
  return row;
}
