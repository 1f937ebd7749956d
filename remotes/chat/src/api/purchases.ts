import type { ContinuedDto, SentDto } from '@liaozhai/shared/contract';
import {
  api,
  capabilities,
  continuedSchema,
  endpoints,
  isApiError,
  type RequestOptions,
  request,
  sentSchema,
  singleSchema,
  store,
  suggestionSchema,
} from '@liaozhai/shared/runtime';
import { type PendingMessage, risenPrice } from '../model/pendingMessage';
import { type Suggestion, toSuggestion } from '../model/story';
import type { EditedLine } from '../model/thread';
import { chatApi } from './chatApi';

/*
 * Purchases are plain requests, not mutations: the end of the session resets the API cache, which would lose a mutation's outcome.
 * All of them reject with ApiError.
 */

/** A purchase in a story: its idempotency key and the price that the user was shown, in points, if any. */
export interface Purchase {
  storyId: string;
  clientId: string;
  price: number | undefined;
}

/**
 * Sends the shown price if the server supports it: it refuses to charge more. The refusal contains the new rules, and the story's
 * own price is fetched again.
 */
async function sendPurchase<const Options extends RequestOptions & { body: object }>(
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
const withLine = ({ message, ...sent }: SentDto, body: string): SentDto => ({
  ...sent,
  message: { ...message, role: 'user', body: message.body || body },
});

/** Sends a message. The same message always has the same key and body, so that it is carried out once. */
export async function postMessage(pending: PendingMessage): Promise<SentDto> {
  const { storyId, conversationId, body, suggestionId, clientId, price } = pending;
  const target = conversationId ? { conversation_id: conversationId } : { story_id: storyId };
  const suggestion = suggestionId ? { suggestion_id: suggestionId } : {};
  const content = { ...target, body, ...suggestion };
  const schema = singleSchema(sentSchema);
  return withLine(
    await sendPurchase({ storyId, clientId, price }, { url: endpoints.messages, body: content, schema }),
    body,
  );
}

export async function postContinue(
  purchase: Purchase,
  conversationId: string,
  messageId: string,
): Promise<ContinuedDto> {
  const body = { conversation_id: conversationId, message_id: messageId };
  return sendPurchase(purchase, { url: endpoints.continue, body, schema: singleSchema(continuedSchema) });
}

export const postRegenerate = async (purchase: Purchase, messageId: string): Promise<ContinuedDto> =>
  sendPurchase(purchase, { url: endpoints.regenerate(messageId), body: {}, schema: singleSchema(continuedSchema) });

/** Rejects if the conversation has continued past `lastSeq`, or the line has been edited, meanwhile. */
export async function postEdit(purchase: Purchase, line: EditedLine, words: string, lastSeq: number): Promise<SentDto> {
  const body = { body: words, revision: line.revision, last_seq: lastSeq };
  const schema = singleSchema(sentSchema);
  return withLine(await sendPurchase(purchase, { url: endpoints.editMessage(line.id), body, schema }), words);
}

export async function postSuggestion(purchase: Purchase, conversationId: string, count: number): Promise<Suggestion> {
  const body = { conversation_id: conversationId, count };
  const schema = singleSchema(suggestionSchema);
  return toSuggestion(await sendPurchase(purchase, { url: endpoints.suggestions, body, schema }));
}
