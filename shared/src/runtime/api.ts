import { type BaseQueryFn, createApi } from '@reduxjs/toolkit/query/react';
import { type ApiError, type CursorPage, identityOf } from '../contract';
import { toApiError } from './client/errors';
import { type RequestOptions, request } from './client/request';

const baseQuery: BaseQueryFn<string | Omit<RequestOptions, 'signal'>, unknown, ApiError> = async (
  argument,
  { signal },
) => {
  const options = typeof argument === 'string' ? { url: argument } : argument;
  return request({ ...options, signal }).then(
    (data) => ({ data: data ?? null }),
    // an aborted request has no reader any more, so its error does not matter
    (cause: unknown) => ({ error: signal.aborted ? { kind: 'offline' } : toApiError(cause) }),
  );
};

// A hidden keep-alive screen unsubscribes; its data must stay cached for as long as the screen may be kept.
const UNUSED_DATA_SECONDS = 3600;

/** The RTK Query api of the page. Each remote injects its endpoints and prefixes their names with its own. */
export const api = createApi({
  reducerPath: 'api',
  baseQuery,
  tagTypes: ['User', 'Story', 'Conversation', 'Transaction'],
  keepUnusedDataFor: UNUSED_DATA_SECONDS,
  endpoints: () => ({}),
});

/** Empty pages in a row after which a list counts as finished. A server that filters after paging may send some. */
const MAX_EMPTY_PAGES = 20;

/** A server answers an invalid cursor with the first page again: a page that only repeats known rows is the end. */
function isEnd(lastPage: CursorPage<unknown>, pages: CursorPage<unknown>[]): boolean {
  if (lastPage.items.length === 0) {
    const latestPages = pages.slice(-MAX_EMPTY_PAGES);
    return latestPages.length === MAX_EMPTY_PAGES && latestPages.every(({ items }) => items.length === 0);
  }
  const knownIds = new Set(pages.filter((page) => page !== lastPage).flatMap((page) => page.items.map(identityOf)));
  return lastPage.items.every((item) => knownIds.has(identityOf(item)));
}

/** Cursor paging for `build.infiniteQuery`. */
export const infiniteCursorOptions = {
  initialPageParam: null as string | null,
  getNextPageParam: (
    lastPage: CursorPage<unknown>,
    pages: CursorPage<unknown>[] = [],
    _param: unknown = null,
    params: readonly unknown[] = [],
  ) => (params.includes(lastPage.nextCursor) || isEnd(lastPage, pages) ? null : lastPage.nextCursor),
};
