import { shanghaiDate } from '../clock.ts';
import { query } from '../db/database.ts';
import type { UserRow } from '../db/schema.ts';
import type { Outcome } from '../http/idempotency.ts';
import { announceUser } from '../realtime/events.ts';
import { checkInReward } from '../rules.ts';
import type { Services } from '../services.ts';
import { currentStreak, findUser } from '../users/user.ts';
import { balanceOf, book } from './ledger.ts';

/** Rewards the first check-in of a Shanghai day; call it inside a transaction. */
export function checkIn(services: Services, { id }: UserRow): Outcome {
  const { db, clock } = services;
  const user = findUser(services, id);
  const date = shanghaiDate(clock());
  const already = user.check_in_date === date;
  const streak = already ? user.check_in_streak : currentStreak(user, clock()) + 1;
  const awarded = already ? 0 : checkInReward(streak);
  if (!already) {
    db.run(query.insertInto('check_ins').values({ user_id: id, date, streak, awarded }));
    db.run(query.updateTable('users').set({ check_in_date: date, check_in_streak: streak }).where('id', '=', id));
    const ref = { type: 'check_in', id: date };
    book(services, {
      userId: id,
      type: 'check_in',
      amount: awarded,
      description: `签到第 ${streak} 天`,
      ref,
      key: date,
    });
    announceUser(services, id);
  }
  return {
    status: 200,
    body: { data: { date, streak, awarded, already_checked_in: already, balance: balanceOf(services, id) } },
  };
}
