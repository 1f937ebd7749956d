import { toProductRules } from '@liaozhai/shared/format';
import { hostConfig, type RootState, type User } from '@liaozhai/shared/runtime';
import type { Message } from '../model/thread';
import { selectChat } from '../slice';
import { chatApi } from './chatApi';

/** Prices of a continuation and of a set of suggestions in the site's rules, in points; undefined if not specified. */
export function prices(): { resume: number | undefined; suggestions: number | undefined } {
  const { continuePrice, suggestionPrice } = toProductRules(hostConfig().rules);
  return { resume: continuePrice, suggestions: suggestionPrice };
}

/** Price of continuing a reply, in points. A reply that was stopped before its first word costs as much as a message. */
export const resumePrice = (reply: Message, pricePerMessage: number | undefined): number | undefined =>
  reply.status === 'cancelled' && reply.body === '' ? pricePerMessage : prices().resume;

/**
 * Whether the user's known balance is too low for this cost plus the price of messages that wait to be sent. False if the balance
 * or the cost is unknown.
 */
export function selectLacksPoints(state: RootState, storyId: string, cost: number | undefined): boolean {
  const { session } = state;
  if (cost === undefined || session.status !== 'member' || !session.user.isWhole) return false;
  const { balance } = session.user;
  if (balance === undefined) return false;
  const { length } = selectChat(state).pending.filter((one) => one.storyId === storyId && one.state === 'waiting');
  // each call creates a selector, which is too expensive for every delta of a reply
  const price = length === 0 ? 0 : (chatApi.endpoints.chatGetStory.select(storyId)(state).data?.pricePerMessage ?? 0);
  return balance < cost + length * price;
}

/** Points for today's check-in and for inviting a friend; undefined if the site's rules do not specify them. */
export function rewards({ checkInStreak }: User): { checkIn: number | undefined; invite: number | undefined } {
  const { checkInRewards: days, inviterReward } = toProductRules(hostConfig().rules);
  const todayReward = checkInStreak === undefined ? undefined : days[Math.min(checkInStreak, days.length - 1)];
  return { checkIn: todayReward, invite: inviterReward };
}
