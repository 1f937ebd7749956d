import type { SentDto } from '@liaozhai/shared/contract';
import { api, capabilities, isApiError, type RequestOptions, request, store } from '@liaozhai/shared/runtime';
import { risenPrice } from '../model/pendingMessage';
import { chatApi } from './chatApi';

/** A purchase in a story: its idempotency key and the price that the user was shown, in points, if any. */
export interface Purchase {
  storyId: string;
  clientId: string;
  price: number | undefined;
}

/**
 * Sends the shown price if the server supports it: it refuses to charge more. The refusal contains the new rules, and the story's
 * own price is fetched again. A plain request, not a mutation: the end of the session resets the API cache, which would lose a
 * mutation's outcome. Rejects with ApiError.
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
    if (isApiError(cause) && risenPrice(cause) !== undefined) {
      store.dispatch(api.util.invalidateTags([{ type: 'Story', id: storyId }]));
      const fetchOptions = { forceRefetch: true, subscribe: false };
      void store.dispatch(chatApi.endpoints.chatGetStory.initiate(storyId, fetchOptions));
    }
    throw cause;
  }
}

/** Fields of the user's line that the response lacks are as they were sent. */
export const withLine = ({ message, ...sent }: SentDto, body: string): SentDto => ({
  ...sent,
  message: { ...message, role: 'user', body: message.body || body },
});
