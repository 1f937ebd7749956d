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
 * Calls that buy something are plain requests: a mutation of the cache would be aborted by the very 401 that ends the
 * session, and its outcome would be lost. All of them reject with ApiError.
 */

/** What a reader buys: in which story, by which key, and for how many points, so far as they were shown any. */
export interface Purchase {
  storyId: string;
  clientId: string;
  price: number | undefined;
}

/**
 * Says the price that the reader was shown, where the server heeds it: it refuses to charge more. The refusal brings the
 * new rules with it; the story's own price is fetched.
 */
async function buy<const Options extends RequestOptions & { body: object }>(
  { storyId, clientId, price }: Purchase,
  options: Options,
) {
  const shown = price !== undefined && capabilities.has('messages.price') ? { price } : {};
  const body = { ...options.body, client_id: clientId, ...shown };
  try {
    return await request({ ...options, method: 'POST', idempotencyKey: clientId, body });
  } catch (cause) {
    if (isApiError(cause) && risenPrice(cause) !== undefined) {
      store.dispatch(api.util.invalidateTags([{ type: 'Story', id: storyId }]));
      const fetched = { forceRefetch: true, subscribe: false };
      void store.dispatch(chatApi.endpoints.chatGetStory.initiate(storyId, fetched));
    }
    throw cause;
  }
}

/** The same line gives the same key and body, so that it is carried out once. */
export async function postMessage(pending: PendingMessage): Promise<SentDto> {
  const { storyId, conversationId, body, suggestionId, clientId, price } = pending;
  const where = conversationId ? { conversation_id: conversationId } : { story_id: storyId };
  const suggestion = suggestionId ? { suggestion_id: suggestionId } : {};
  const content = { ...where, body, ...suggestion };
  const schema = singleSchema(sentSchema);
  return buy({ storyId, clientId, price }, { url: endpoints.messages, body: content, schema });
}

export async function postContinue(
  purchase: Purchase,
  conversationId: string,
  messageId: string,
): Promise<ContinuedDto> {
  const body = { conversation_id: conversationId, message_id: messageId };
  return buy(purchase, { url: endpoints.continue, body, schema: singleSchema(continuedSchema) });
}

export const postRegenerate = async (purchase: Purchase, messageId: string): Promise<ContinuedDto> =>
  buy(purchase, { url: endpoints.regenerate(messageId), body: {}, schema: singleSchema(continuedSchema) });

/** Refused where the conversation has gone on past `lastSeq`, or the line has been edited, meanwhile. */
export async function postEdit(purchase: Purchase, line: EditedLine, words: string, lastSeq: number): Promise<SentDto> {
  const body = { body: words, revision: line.revision, last_seq: lastSeq };
  return buy(purchase, { url: endpoints.editMessage(line.id), body, schema: singleSchema(sentSchema) });
}

export async function postSuggestion(purchase: Purchase, conversationId: string, count: number): Promise<Suggestion> {
  const body = { conversation_id: conversationId, count };
  const schema = singleSchema(suggestionSchema);
  return toSuggestion(await buy(purchase, { url: endpoints.suggestions, body, schema }));
}
