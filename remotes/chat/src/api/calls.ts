import type { ContinuedDto, ConversationDto, SentDto } from '@liaozhai/shared/contract';
import {
  type ApiError,
  capabilities,
  continuedSchema,
  conversationSchema,
  endpoints,
  latestSchema,
  request,
  sentSchema,
  session,
  singleSchema,
  suggestionSchema,
} from '@liaozhai/shared/runtime';
import type { PendingMessage } from '../model/pendingMessage';
import { type Suggestion, toSuggestion } from '../model/story';
import { type EditedLine, type Page, toPage } from '../model/thread';

/*
 * Calls that buy something are plain requests: a mutation of the cache would be aborted by the very 401 that ends the
 * session, and its fate would be lost. All of them reject with ApiError.
 */

/** As many messages as a page brings, and as the device stores of a thread. */
export const THREAD_PAGE = 50;

/** By story or by conversation; `after` is a version, `before` a seq, neither means the newest. */
export interface LatestQuery {
  story_id?: string;
  conversation_id?: string;
  after?: number;
  before?: number;
  limit?: number;
}

export async function askLatest(query: LatestQuery): Promise<Page> {
  // a background sync goes on after the session has expired, and each refusal would open the popup
  const refusal: ApiError = { kind: 'unauthenticated' };
  if (session.current().status !== 'member') throw refusal;
  const body = await request({ url: endpoints.latestMessages, params: { ...query }, schema: latestSchema });
  return toPage(body, capabilities.has('messages.edit') || capabilities.has('conversations.restart'));
}

/** The same line gives the same key and body, so that it is carried out once. */
export async function postMessage(pending: PendingMessage): Promise<SentDto> {
  const { clientId, storyId, conversationId, body, suggestionId } = pending;
  const where = conversationId ? { conversation_id: conversationId } : { story_id: storyId };
  const suggestion = suggestionId ? { suggestion_id: suggestionId } : {};
  const content = { ...where, body, client_id: clientId, ...suggestion };
  const url = endpoints.messages;
  return request({ url, method: 'POST', idempotencyKey: clientId, body: content, schema: singleSchema(sentSchema) });
}

export async function postContinue(conversationId: string, messageId: string, clientId: string): Promise<ContinuedDto> {
  const content = { conversation_id: conversationId, message_id: messageId, client_id: clientId };
  const schema = singleSchema(continuedSchema);
  return request({ url: endpoints.continue, method: 'POST', idempotencyKey: clientId, body: content, schema });
}

/** Only that revision is stopped: the request may be late. */
export async function postCancel(messageId: string, revision: number): Promise<ContinuedDto> {
  const schema = singleSchema(continuedSchema);
  return request({ url: endpoints.cancelReply(messageId), method: 'POST', body: { revision }, schema });
}

export async function postRegenerate(messageId: string, clientId: string): Promise<ContinuedDto> {
  const how = { method: 'POST', idempotencyKey: clientId, body: { client_id: clientId } };
  return request({ url: endpoints.regenerate(messageId), ...how, schema: singleSchema(continuedSchema) });
}

export async function postVariant(messageId: string, variant: number): Promise<ContinuedDto> {
  const schema = singleSchema(continuedSchema);
  return request({ url: endpoints.variant(messageId), method: 'POST', body: { variant }, schema });
}

/** Refused where the conversation has gone on past `lastSeq`, or the line has been edited, meanwhile. */
export async function postEdit(line: EditedLine, body: string, lastSeq: number, clientId: string): Promise<SentDto> {
  const content = { body, revision: line.revision, last_seq: lastSeq, client_id: clientId };
  const how = { method: 'POST', idempotencyKey: clientId, body: content };
  return request({ url: endpoints.editMessage(line.id), ...how, schema: singleSchema(sentSchema) });
}

export async function postRestart(conversationId: string, clientId: string): Promise<ConversationDto> {
  const how = { method: 'POST', idempotencyKey: clientId, body: { client_id: clientId } };
  const schema = singleSchema(conversationSchema);
  return request({ url: endpoints.restartConversation(conversationId), ...how, schema });
}

export async function postSuggestion(conversationId: string, count: number, clientId: string): Promise<Suggestion> {
  const content = { conversation_id: conversationId, count, client_id: clientId };
  const how = { method: 'POST', idempotencyKey: clientId, body: content, schema: singleSchema(suggestionSchema) };
  return toSuggestion(await request({ url: endpoints.suggestions, ...how }));
}

export const askSuggestion = async (id: string): Promise<Suggestion> =>
  toSuggestion(await request({ url: endpoints.suggestion(id), schema: singleSchema(suggestionSchema) }));
