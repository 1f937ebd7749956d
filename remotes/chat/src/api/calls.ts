import type { ContinuedDto, ConversationDto } from '@liaozhai/shared/contract';
import {
  type ApiError,
  capabilities,
  continuedSchema,
  conversationSchema,
  endpoints,
  latestSchema,
  request,
  session,
  singleSchema,
  suggestionSchema,
} from '@liaozhai/shared/runtime';
import { type Suggestion, toSuggestion } from '../model/story';
import { type Page, toPage } from '../model/thread';

/** Messages per page, and messages of each thread that the offline cache holds. */
export const THREAD_PAGE = 50;

/** Filters by story or by conversation. `after` is a version, `before` a seq; without both, the newest page is returned. */
export interface LatestQuery {
  story_id?: string;
  conversation_id?: string;
  after?: number;
  before?: number;
  limit?: number;
}

export async function fetchLatest(query: LatestQuery): Promise<Page> {
  // background syncs continue after the session has expired, and each 401 would open the sign-in popup
  const refusal: ApiError = { kind: 'unauthenticated' };
  if (session.current().status !== 'member') throw refusal;
  const body = await request({ url: endpoints.latestMessages, params: { ...query }, schema: latestSchema });
  const page = toPage(body, capabilities.has('messages.edit') || capabilities.has('conversations.restart'));
  if (query.after === undefined && page.isUnparsed) throw unparsedPage;
  return page;
}

export const unparsedPage: ApiError = { kind: 'server', status: 200 };

/** Stops only the given revision, since the request may reach the server after the next one has begun. */
export async function postCancel(messageId: string, revision: number): Promise<ContinuedDto> {
  const schema = singleSchema(continuedSchema);
  return request({ url: endpoints.cancelReply(messageId), method: 'POST', body: { revision }, schema });
}

export async function postVariant(messageId: string, variant: number): Promise<ContinuedDto> {
  const schema = singleSchema(continuedSchema);
  return request({ url: endpoints.variant(messageId), method: 'POST', body: { variant }, schema });
}

export async function postRestart(conversationId: string, clientId: string): Promise<ConversationDto> {
  const options = { method: 'POST', idempotencyKey: clientId, body: { client_id: clientId } };
  const schema = singleSchema(conversationSchema);
  return request({ url: endpoints.restartConversation(conversationId), ...options, schema });
}

export const fetchSuggestion = async (id: string): Promise<Suggestion> =>
  toSuggestion(await request({ url: endpoints.suggestion(id), schema: singleSchema(suggestionSchema) }));
