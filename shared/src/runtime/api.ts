import { type BaseQueryFn, createApi } from '@reduxjs/toolkit/query/react';
import type { ApiError, CursorPage } from '../contract';
import { toApiError } from './client/errors';
import { type RequestOptions, request } from './client/request';

export type ApiRequest = string | Omit<RequestOptions, 'signal'>;

const baseQuery: BaseQueryFn<ApiRequest, unknown, ApiError> = async (argument, { signal }) => {
  const options = typeof argument === 'string' ? { url: argument } : argument;
  return request({ ...options, signal }).then(
    (data) => ({ data: data ?? null }),
    // an aborted request has no reader any more; its answer does not matter
    (cause: unknown) => ({ error: signal.aborted ? { kind: 'offline' } : toApiError(cause) }),
  );
};

// A hidden kept-alive screen unsubscribes, so its data must outlive it for as long as it may be kept.
const KEPT_SECONDS = 3600;

/** The one RTK Query api; each remote injects its endpoints, whose names carry the remote's name. */
export const api = createApi({
  reducerPath: 'api',
  baseQuery,
  tagTypes: ['User', 'Story', 'Conversation', 'Transaction'],
  keepUnusedDataFor: KEPT_SECONDS,
  endpoints: () => ({}),
});

const idOf = (item: unknown): unknown => (typeof item === 'object' && item !== null && 'id' in item ? item.id : item);

/** A server that filters after it pages may send some without a row; one that sends only such has no end. */
const MOST_EMPTY_PAGES = 20;

/** A bad cursor yields the first page again: what only repeats the pages before it is the end. */
function isEnd(last: CursorPage<unknown>, pages: CursorPage<unknown>[]): boolean {
  if (last.items.length === 0) {
    const newest = pages.slice(-MOST_EMPTY_PAGES);
    return newest.length === MOST_EMPTY_PAGES && newest.every(({ items }) => items.length === 0);
  }
  const knownIds = new Set(pages.filter((page) => page !== last).flatMap((page) => page.items.map(idOf)));
  return last.items.every((item) => knownIds.has(idOf(item)));
}

/** Ready for `build.infiniteQuery`. */
export const infiniteCursorOptions = {
  initialPageParam: null as string | null,
  getNextPageParam: (
    last: CursorPage<unknown>,
    pages: CursorPage<unknown>[] = [],
    _param: unknown = null,
    params: readonly unknown[] = [],
  ) => (params.includes(last.nextCursor) || isEnd(last, pages) ? null : last.nextCursor),
};
