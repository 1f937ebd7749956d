import { toProductRules } from '@liaozhai/shared/format';
import { hostConfig, type RootState, type User } from '@liaozhai/shared/runtime';
import type { Message } from '../model/thread';
import { selectChat } from '../slice';
import { chatApi } from './chatApi';

/** What the site's rules say that a continuation and a set of suggestions cost, in points; undefined where they do not say. */
export function prices(): { resume: number | undefined; suggestions: number | undefined } {
  const { continuePrice, suggestionPrice } = toProductRules(hostConfig().rules);
  return { resume: continuePrice, suggestions: suggestionPrice };
}

/** What going on with a reply costs, in points: one that was stopped before its first word is bought as a whole. */
export const resumePrice = (reply: Message, pricePerMessage: number | undefined): number | undefined =>
  reply.status === 'cancelled' && reply.body === '' ? pricePerMessage : prices().resume;

/**
 * Whether the reader has too few points for something of this cost, so far as this page knows. What messages that wait
 * will cost is spoken for; where the server has not told the user or the price, nothing is known.
 */
export function selectLacksPoints(state: RootState, storyId: string, cost: number | undefined): boolean {
  const { session } = state;
  if (cost === undefined || session.status !== 'member' || !session.user.isWhole) return false;
  const { balance } = session.user;
  if (balance === undefined) return false;
  const { length } = selectChat(state).pending.filter((one) => one.storyId === storyId && one.state === 'waiting');
  // each call creates a selector, too much for every piece of a reply
  const price = length === 0 ? 0 : (chatApi.endpoints.chatGetStory.select(storyId)(state).data?.pricePerMessage ?? 0);
  return balance < cost + length * price;
}

/** Points that today's check-in and a friend who comes bring, so far as the site's rules say. */
export function rewards({ checkInStreak }: User): { checkIn: number | undefined; invite: number | undefined } {
  const { checkInRewards: days, inviterReward } = toProductRules(hostConfig().rules);
  const today = checkInStreak === undefined ? undefined : days[Math.min(checkInStreak, days.length - 1)];
  return { checkIn: today, invite: inviterReward };
}
