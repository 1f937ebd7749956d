import { stopAll, withNewest } from '@liaozhai/shared/format';
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
  readAs,
  readJson,
  STORAGE_KEYS,
  session,
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
} from './model';

/** Lists are cached per kind; null is the list of all kinds. */
export type Filter = TransactionKind | null;

const pageSchema = cursorPageSchema(transactionSchema);

const pageRequest = (filter: Filter, cursor: string | null) => ({
  url: endpoints.transactions,
  params: { ...(filter !== null && { type: filter }), ...(cursor !== null && { cursor }) },
  schema: pageSchema,
});

const walletApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    walletGetTransactions: build.infiniteQuery<TransactionPage, Filter, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      query: ({ queryArg, pageParam }) => pageRequest(queryArg, pageParam),
      transformResponse: toTransactionPage,
      providesTags: ['Transaction'],
      async onCacheEntryAdded(filter, { dispatch, updateCachedData, cacheDataLoaded, cacheEntryRemoved }) {
        await cacheDataLoaded;
        const mergeNewest = async () => {
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
          // RTK Query applies a page in flight to the pages as they were when it was requested
          void dispatch(walletApi.util.getRunningQueryThunk('walletGetTransactions', filter))?.then(merge);
        };
        const stop = stopAll(listen('balance.updated', anyPayload, mergeNewest), onCaughtUpNeeded(mergeNewest));
        await cacheEntryRemoved;
        stop();
      },
    }),
    // the first page, to find transactions since the list was loaded
    walletGetNewest: build.query<TransactionPage, Filter>({
      query: (filter) => pageRequest(filter, null),
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
    /** `clientId` is the idempotency key: a repeated attempt of the same order has the same one. */
    walletPlaceOrder: build.mutation<Order, { packageId: string; clientId: string }>({
      async queryFn({ packageId, clientId }, _queryApi, _options, send) {
        const body = { package_id: packageId, client_id: clientId };
        const placed = await send({ url: endpoints.orders, method: 'POST', body, idempotencyKey: clientId });
        if (placed.error) return { error: placed.error };
        const order = readAs(singleSchema(orderSchema), placed.data);
        if (order) return { data: toOrder(order) };
        // some servers confirm the order without sending it
        const listed = await send({ url: endpoints.orders });
        const found = readAs(ordersSchema, listed.data)?.data.find(({ client_id }) => client_id === clientId);
        return found ? { data: toOrder(found) } : { error: listed.error ?? { kind: 'server', status: 200 } };
      },
      async onQueryStarted(_form, { dispatch, queryFulfilled }) {
        const result = await queryFulfilled.catch(() => null);
        if (result) dispatch(walletApi.util.upsertQueryData('walletGetOrder', result.data.id, result.data));
      },
    }),
  }),
});

/** Calls `handler` when the server reports an order, and when events may have been missed. Returns the stop function. */
export const onOrderNews = (handler: () => void) =>
  stopAll(listen('order.updated', anyPayload, handler), onCaughtUpNeeded(handler));

interface OrderKey {
  clientId: string;
  /** Whether the server has answered with its order. */
  isAnswered: boolean;
}

/**
 * This tab's idempotency key for a package, stored until the order is settled. A second tap, a reload or a lost response
 * therefore never opens a second order. Another user of the tab has keys of their own.
 */
export const orderKeys = {
  of(packageId: string): OrderKey {
    const storedKey = readOrderKeys()[packageId];
    if (typeof storedKey?.clientId === 'string') return storedKey;
    const key = { clientId: newClientId(), isAnswered: false };
    storeOrderKeys({ ...readOrderKeys(), [packageId]: key });
    return key;
  },
  answered(packageId: string, clientId: string) {
    const keys = readOrderKeys();
    // another user may have signed in meanwhile
    if (keys[packageId]?.clientId === clientId)
      storeOrderKeys({ ...keys, [packageId]: { clientId, isAnswered: true } });
  },
  forget(packageId: string) {
    const { [packageId]: _, ...rest } = readOrderKeys();
    storeOrderKeys(rest);
  },
};

function ownerId(): string | null {
  const current = session.current();
  return current.status === 'member' ? current.user.id : null;
}

const storeOrderKeys = (orders: Record<string, OrderKey>) =>
  tab.set(STORAGE_KEYS.orders, JSON.stringify({ owner: ownerId(), orders }));

function readOrderKeys(): Record<string, OrderKey> {
  const { owner, orders } = Object(readJson(STORAGE_KEYS.orders, tab)) as {
    owner?: unknown;
    orders?: Record<string, OrderKey>;
  };
  return owner === ownerId() ? { ...orders } : {};
}

export const {
  useWalletGetTransactionsInfiniteQuery,
  useWalletGetOrdersQuery,
  useWalletGetOrderQuery,
  useWalletPlaceOrderMutation,
} = walletApi;
