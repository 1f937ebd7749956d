import { type BaseQueryFn, createApi } from '@reduxjs/toolkit/query/react';
import { type RequestOptions, request } from './client/client';
import { type ApiError, toApiError } from './errors';

type Query = string | Omit<RequestOptions, 'signal' | 'baseURL'>;

const baseQuery: BaseQueryFn<Query, unknown, ApiError> = async (query, { signal }) => {
  try {
    return { data: await request<unknown>({ ...(typeof query === 'string' ? { url: query } : query), signal }) };
  } catch (cause) {
    return { error: toApiError(cause) };
  }
};

/**
 * The one RTK Query API. Remotes inject endpoints whose names carry the remote's name; its tags let one team's
 * change refresh another's data.
 */
export const api = createApi({
  reducerPath: 'api',
  baseQuery,
  tagTypes: ['User', 'Story', 'Conversation', 'Transaction'],
  // a kept-alive screen comes back without a request
  keepUnusedDataFor: 600,
  endpoints: () => ({}),
});
