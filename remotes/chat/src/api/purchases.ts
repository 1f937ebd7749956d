import type { SentDto } from '@liaozhai/shared/contract';
import { toProductRules } from '@liaozhai/shared/format';
import {
  api,
  capabilities,
  hostConfig,
  isApiError,
  type RequestOptions,
  type RootState,
  request,
  store,
  type User,
} from '@liaozhai/shared/runtime';
import type { Message } from '../model/message';
import { selectChat } from '../slice';
import { chatApi } from './chatApi';

/** A purchase in a story: its idempotency key and the price that the user was shown, in points, if any. */
export interface Purchase {
  storyId: string;
  clientId: string;
  price: number | undefined;
}

/**
 * Sends the shown price if the server supports it: it refuses to charge more. The refusal contains the new rules, and the story's
 * own price is fetched again; a price that is not higher is left out. A plain request, not a mutation: the end of the session resets
 * the API cache, which would lose a mutation's outcome. Rejects with ApiError.
 */
export async function sendPurchase<const Options extends RequestOptions & { body: object }>(
  { storyId, clientId, price }: Purchase,
  options: Options,
) {
  const priceField = price !== undefined && capabilities.has('messages.price') ? { price } : {};
  const body = { ...options.body, client_id: clientId, ...priceField };
  try {
    return await request({ ...options, method: 'POST', idempotencyKey: clientId, body });
  } catch (cause) {
    if (!isApiError(cause) || cause.kind !== 'conflict' || cause.price === undefined) throw cause;
    const { price: newPrice, ...refusal } = cause;
    if (newPrice <= (price ?? 0)) throw refusal;
    store.dispatch(api.util.invalidateTags([{ type: 'Story', id: storyId }]));
    const fetchOptions = { forceRefetch: true, subscribe: false };
    void store.dispatch(chatApi.endpoints.chatGetStory.initiate(storyId, fetchOptions));
    throw cause;
  }
}

/** Fields of the user's line that the response lacks are as they were sent. */
export const withLine = ({ message, ...sent }: SentDto, body: string): SentDto => ({
  ...sent,
  message: { ...message, role: 'user', body: message.body || body },
});

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
