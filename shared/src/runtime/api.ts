import { type BaseQueryFn, createApi } from '@reduxjs/toolkit/query/react';
import type { ApiError } from '../contract';
import { type RequestOptions, request } from './client/request';
import { toApiError } from './client/toApiError';

export type ApiRequest = string | Omit<RequestOptions, 'signal'>;

const baseQuery: BaseQueryFn<ApiRequest, unknown, ApiError> = async (argument, { signal }) => {
  const options = typeof argument === 'string' ? { url: argument } : argument;
  return request({ ...options, signal }).then(
    (data) => ({ data: data ?? null }),
    // an aborted request has no reader any more; what it is told does not matter
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
