import {
  anyPayload,
  api,
  cursorPageSchema,
  endpoints,
  infiniteCursorOptions,
  listen,
  onCaughtUpNeeded,
  transactionSchema,
} from '@liaozhai/shared/runtime';
import { type TransactionKind, type TransactionPage, toTransactionPage, withNewest } from './model';

/** One list per kind; null is all of them. */
export type Filter = TransactionKind | null;

const typeParam = (filter: Filter) => (filter === null ? {} : { type: filter });
const pageSchema = cursorPageSchema(transactionSchema);

export const walletApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    walletGetTransactions: build.infiniteQuery<TransactionPage, Filter, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      query: ({ queryArg, pageParam }) => ({
        url: endpoints.transactions,
        params: { ...typeParam(queryArg), ...(pageParam === null ? {} : { cursor: pageParam }) },
        schema: pageSchema,
      }),
      transformResponse: toTransactionPage,
      providesTags: ['Transaction'],
      async onCacheEntryAdded(filter, { dispatch, updateCachedData, cacheDataLoaded, cacheEntryRemoved }) {
        await cacheDataLoaded;
        const takeNewest = async () => {
          const newest = dispatch(
            walletApi.endpoints.walletGetNewest.initiate(filter, { subscribe: false, forceRefetch: true }),
          );
          const { data } = await newest;
          if (!data) return;
          const merge = () =>
            updateCachedData((ledger) => {
              ledger.pages = withNewest(ledger.pages, data);
            });
          merge();
          // a next page under way comes with the pages as they were when it was asked for
          void dispatch(walletApi.util.getRunningQueryThunk('walletGetTransactions', filter))?.then(merge);
        };
        const stops = [listen('balance.updated', anyPayload, takeNewest), onCaughtUpNeeded(takeNewest)];
        await cacheEntryRemoved;
        for (const stop of stops) stop();
      },
    }),
    // the first page by itself: what was booked since the list was read
    walletGetNewest: build.query<TransactionPage, Filter>({
      query: (filter) => ({ url: endpoints.transactions, params: typeParam(filter), schema: pageSchema }),
      transformResponse: toTransactionPage,
      keepUnusedDataFor: 0,
    }),
  }),
});

export const { useWalletGetTransactionsInfiniteQuery } = walletApi;
