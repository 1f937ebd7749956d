import {
  anyPayload,
  api,
  cursorPageSchema,
  endpoints,
  infiniteCursorOptions,
  listen,
  newClientId,
  onCaughtUpNeeded,
  orderSchema,
  ordersSchema,
  readJson,
  STORAGE_KEYS,
  singleSchema,
  tab,
  transactionSchema,
} from '@liaozhai/shared/runtime';
import {
  type Order,
  type Orders,
  type TransactionKind,
  type TransactionPage,
  toOrder,
  toOrders,
  toTransactionPage,
  withNewest,
} from './model';

/** One list per kind; null is all of them. */
export type Filter = TransactionKind | null;

const typeParam = (filter: Filter) => (filter === null ? {} : { type: filter });
const pageSchema = cursorPageSchema(transactionSchema);

const walletApi = api.injectEndpoints({
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
    // the first page alone: bookings since the list was read
    walletGetNewest: build.query<TransactionPage, Filter>({
      query: (filter) => ({ url: endpoints.transactions, params: typeParam(filter), schema: pageSchema }),
      transformResponse: toTransactionPage,
      keepUnusedDataFor: 0,
    }),
    walletGetOrders: build.query<Orders, void>({
      query: () => ({ url: endpoints.orders, schema: ordersSchema }),
      transformResponse: toOrders,
    }),
    walletGetOrder: build.query<Order, string>({
      query: (id) => ({ url: endpoints.order(id), schema: singleSchema(orderSchema) }),
      transformResponse: toOrder,
    }),
    walletPlaceOrder: build.mutation<Order, OrderForm>({
      query: ({ packageId, clientId }) => ({
        url: endpoints.orders,
        method: 'POST',
        body: { package_id: packageId, client_id: clientId },
        idempotencyKey: clientId,
        schema: singleSchema(orderSchema),
      }),
      transformResponse: toOrder,
      async onQueryStarted(_form, { dispatch, queryFulfilled }) {
        const answer = await queryFulfilled.catch(() => null);
        if (answer) dispatch(walletApi.util.upsertQueryData('walletGetOrder', answer.data.id, answer.data));
      },
    }),
  }),
});

export interface OrderForm {
  packageId: string;
  /** the same while the same order is meant */
  clientId: string;
}

/**
 * The key under which this tab orders a package. It stays until the order is settled, so that a second tap, a reload or an answer that
 * was lost never opens a second order.
 */
export const orderKeys = {
  of(packageId: string): string {
    const keys = keptOrderKeys();
    const former = keys[packageId];
    if (former) return former;
    const key = newClientId();
    tab.set(STORAGE_KEYS.orders, JSON.stringify({ ...keys, [packageId]: key }));
    return key;
  },
  forget(packageId: string) {
    const { [packageId]: _, ...rest } = keptOrderKeys();
    tab.set(STORAGE_KEYS.orders, JSON.stringify(rest));
  },
};

function keptOrderKeys(): Record<string, string> {
  const stored = readJson(STORAGE_KEYS.orders, tab);
  return typeof stored === 'object' && stored !== null ? { ...(stored as Record<string, string>) } : {};
}

export const {
  useWalletGetTransactionsInfiniteQuery,
  useWalletGetOrdersQuery,
  useWalletGetOrderQuery,
  useWalletPlaceOrderMutation,
} = walletApi;
