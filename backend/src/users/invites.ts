import { randomInt } from 'node:crypto';
import { networkOf } from '@liaozhai/http/source';
import { Hono } from 'hono';
import * as v from 'valibot';
import { query } from '../db/database.ts';
import type { UserRow } from '../db/schema.ts';
import { type AppEnv, notFound, writingUser } from '../http/http.ts';
import { id, readInput, validate } from '../http/input.ts';
import { announceUser } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { book } from '../wallet.ts';
import { findUser, userUpdate } from './user.ts';

/** Points for an invitation that no page has announced yet. */
export interface Gift {
  id: string;
  points: number;
  /** nickname of the other user */
  name: string;
  /** role of this user */
  side: 'inviter' | 'invitee';
}

const giftsOf = (row: Pick<UserRow, 'gifts'>): Gift[] => JSON.parse(row.gifts);

const inviteAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

export function newInviteCode({ db }: Services): string {
  for (;;) {
    const code = Array.from({ length: 6 }, () => inviteAlphabet[randomInt(inviteAlphabet.length)]).join('');
    if (!db.find('users', { invite_code: code })) return code;
  }
}

/** Returns the user of an invite code, regardless of case; undefined for an unknown code. */
export function findInviter({ db }: Services, code: string | null | undefined): UserRow | undefined {
  if (!code) return undefined;
  return db.find('users', { invite_code: code.trim().toUpperCase() });
}

const hasRewardsLeft = ({ db }: Services, inviterId: string): boolean =>
  db.all(
    query
      .selectFrom('transactions')
      .select('id')
      .where((where) => where.and({ user_id: inviterId, type: 'invite', ref_type: 'invitee' })),
  ).length < rules.maxRewardedInvites;

/**
 * Rewards both sides of an invitation once and notifies their pages. For an email account it is called after the
 * confirmation. Call it inside a transaction.
 */
export function rewardInvite(services: Services, invitee: UserRow): void {
  if (!invitee.invited_by) return;
  const inviter = findUser(services, invitee.invited_by);
  const isRewarded = hasRewardsLeft(services, inviter.id);
  const { inviteReward } = services.env.prices;
  bookGift(services, invitee.id, '受邀加入', {
    id: `inviter:${inviter.id}`,
    points: inviteReward.invitee,
    name: inviter.name,
    side: 'invitee',
  });
  if (!isRewarded) return;
  bookGift(services, inviter.id, `邀请好友「${invitee.name}」`, {
    id: `invitee:${invitee.id}`,
    points: inviteReward.inviter,
    name: invitee.name,
    side: 'inviter',
  });
}

function bookGift(services: Services, userId: string, description: string, gift: Gift): void {
  const [type = '', otherId = ''] = gift.id.split(':');
  book(services, {
    userId,
    type: 'invite',
    amount: gift.points,
    description,
    ref: { type, id: otherId },
    key: gift.id,
  });
  saveGifts(services, userId, [...giftsOf(findUser(services, userId)), gift]);
  announceUser(services, userId);
}

const saveGifts = ({ db }: Services, userId: string, gifts: Gift[]) =>
  db.run(userUpdate({ gifts: JSON.stringify(gifts) }).where('id', '=', userId));

/** Removes a person's name from the unannounced gifts of others. Scans all users, which is acceptable for an erasure. */
export function forgetInGifts(services: Services, userId: string): void {
  const usersWithName = query.selectFrom('users').select(['id', 'gifts']).where('gifts', 'like', `%:${userId}"%`);
  for (const user of services.db.all(usersWithName)) {
    const gifts = giftsOf(user).map((gift) =>
      gift.id.endsWith(`:${userId}`) ? { ...gift, name: '已注销的好友' } : gift,
    );
    saveGifts(services, user.id, gifts);
  }
}

const announcedForm = v.object({ ids: v.pipe(v.array(v.string()), v.maxLength(100)) });

export function inviteRoutes(services: Services): Hono<AppEnv> {
  const { db, limits, env } = services;
  return new Hono<AppEnv>()
    .get('/:code', (c) => {
      limits.consume(`invites:${networkOf(c.get('source').ip)}`, env.RATE_LIMIT_INVITES);
      const inviter = findInviter(services, validate(v.object({ code: id }), c.req.param()).code);
      if (!inviter) throw notFound('没有找到这个邀请');
      const { name, avatar } = inviter;
      const { inviteReward } = services.env.prices;
      const rewards = {
        inviter: hasRewardsLeft(services, inviter.id) ? inviteReward.inviter : 0,
        invitee: inviteReward.invitee,
      };
      return c.json({ data: { name, avatar, rewards } });
    })
    .post('/gifts/announced', (c) => {
      const user = writingUser(c, services);
      const { ids } = validate(announcedForm, readInput(c));
      const data = db.transaction(() => {
        const gifts = giftsOf(findUser(services, user.id));
        const pendingGifts = gifts.filter((gift) => !ids.includes(gift.id));
        if (pendingGifts.length < gifts.length) {
          saveGifts(services, user.id, pendingGifts);
          announceUser(services, user.id);
        }
        return gifts.filter((gift) => ids.includes(gift.id));
      });
      return c.json({ data });
    });
}
