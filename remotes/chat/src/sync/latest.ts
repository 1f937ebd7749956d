import { request } from '@liaozhai/shared/runtime';
import { type LatestDto, type Page, toPage } from '../model';

/** By story or by conversation; `after` is a version, `before` a seq, neither means the newest. */
export interface LatestQuery {
  story_id?: string;
  conversation_id?: string;
  after?: number;
  before?: number;
  limit?: number;
}

/** Asks for messages; rejects with ApiError. */
export const askLatest = async (query: LatestQuery): Promise<Page> =>
  toPage(await request<LatestDto>({ url: '/v1/messages/latest', params: { ...query } }));
