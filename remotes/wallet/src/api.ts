import { api, cursorPage, infiniteCursorOptions, listen, onCaughtUpNeeded } from '@liaozhai/shared/runtime';
import { type TransactionDto, type TransactionKind, type TransactionPage, toTransaction, withNewest } from './model';

/** One list per kind; null is all of them. */
export type Filter = TransactionKind | null;

const url = '/v1/transactions';
const typeParam = (filter: Filter) => (filter === null ? {} : { type: filter });
const parsePage = cursorPage((item) => toTransaction(item as TransactionDto));

export const walletApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    walletGetTransactions: build.infiniteQuery<TransactionPage, Filter, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      query: ({ queryArg, pageParam }) => ({
        url,
        params: { ...typeParam(queryArg), ...(pageParam === null ? {} : { cursor: pageParam }) },
      }),
      transformResponse: parsePage,
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
        const stops = [listen('balance.updated', takeNewest), onCaughtUpNeeded(takeNewest)];
        await cacheEntryRemoved;
        for (const stop of stops) stop();
      },
    }),
    // the first page by itself: what was booked since the list was read
    walletGetNewest: build.query<TransactionPage, Filter>({
      query: (filter) => ({ url, params: typeParam(filter) }),
      transformResponse: parsePage,
      keepUnusedDataFor: 0,
    }),
  }),
});

export const { useWalletGetTransactionsInfiniteQuery } = walletApi;
