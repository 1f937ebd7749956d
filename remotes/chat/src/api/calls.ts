import { request, unwrap } from '@liaozhai/shared/runtime';
import {
  type ContinuedDto,
  type LatestDto,
  type Line,
  type Page,
  type SentDto,
  type Suggestion,
  type SuggestionDto,
  toPage,
  toSuggestion,
} from '../model';

/*
 * Calls that buy something are plain requests: a mutation of the cache would be aborted by the very 401 that ends the
 * session, and its fate would be lost. All of them reject with ApiError.
 */

/** By story or by conversation; `after` is a version, `before` a seq, neither means the newest. */
export interface LatestQuery {
  story_id?: string;
  conversation_id?: string;
  after?: number;
  before?: number;
  limit?: number;
}

export const askLatest = async (query: LatestQuery): Promise<Page> =>
  toPage(await request<LatestDto>({ url: '/v1/messages/latest', params: { ...query } }));

/** The same line gives the same key and body, so that it is carried out once. */
export async function postMessage(line: Line): Promise<SentDto> {
  const { clientId, storyId, conversationId, body, suggestionId } = line;
  const where = conversationId ? { conversation_id: conversationId } : { story_id: storyId };
  const idea = suggestionId ? { suggestion_id: suggestionId } : {};
  const content = { ...where, body, client_id: clientId, ...idea };
  return unwrap(await post('/v1/messages', clientId, content)) as SentDto;
}

export async function postContinue(conversationId: string, messageId: string, clientId: string): Promise<ContinuedDto> {
  const content = { conversation_id: conversationId, message_id: messageId, client_id: clientId };
  return unwrap(await post('/v1/messages/continue', clientId, content)) as ContinuedDto;
}

export async function postSuggestion(conversationId: string, count: number, clientId: string): Promise<Suggestion> {
  const content = { conversation_id: conversationId, count, client_id: clientId };
  return toSuggestion(unwrap(await post('/v1/messages/suggestion', clientId, content)) as SuggestionDto);
}

export const askSuggestion = async (id: string): Promise<Suggestion> =>
  toSuggestion(unwrap(await request({ url: `/v1/messages/suggestion/${encodeURIComponent(id)}` })) as SuggestionDto);

export const conversationUrl = (id: string): string => `/v1/conversations/${encodeURIComponent(id)}`;

const post = (url: string, idempotencyKey: string, body: unknown) =>
  request<unknown>({ url, method: 'POST', idempotencyKey, body });
