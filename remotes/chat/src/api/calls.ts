import { type ApiError, capabilities, endpoints, latestSchema, request, session } from '@liaozhai/shared/runtime';
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
