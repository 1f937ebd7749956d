import { Link, paths, useGoBack, useSearchParams, useUser } from '@liaozhai/shared/runtime';
import { Button, EmptyState, EndOfList, InfiniteList, QueryView, Skeleton, TopBar } from '@liaozhai/shared/ui';
import { useMemo } from 'react';
import { type Filter, useWalletGetTransactionsInfiniteQuery } from '../api';
import { BalanceFigure } from '../components/BalanceFigure';
import { KindFilter } from '../components/KindFilter';
import { TransactionLedger } from '../components/TransactionLedger';
import { transactionKinds, transactionsOf } from '../model';
import { texts } from '../texts';
import styles from './TransactionListPage.module.css';

export default function TransactionListPage() {
  const user = useUser();
  const goBack = useGoBack(paths.my());
  const [search, setSearch] = useSearchParams();
  const filter: Filter = transactionKinds.find((kind) => kind === search.get('type')) ?? null;
  const showKind = (kind: Filter) => setSearch(kind === null ? {} : { type: kind }, { replace: true });
  return (
    <>
      <TopBar title={texts.transactions.title} onBack={goBack} />
      <div className={styles.page}>
        <div className={styles.head}>
          {user && <BalanceFigure balance={user.balance} />}
          <Button variant="quiet" asLink={<Link to={paths.recharge()} />}>
            {texts.recharge.title}
          </Button>
        </div>
        <KindFilter value={filter} onChange={showKind} />
        {user && <Transactions filter={filter} />}
      </div>
    </>
  );
}

function Transactions({ filter }: { filter: Filter }) {
  const ledger = useWalletGetTransactionsInfiniteQuery(filter);
  const pages = ledger.currentData?.pages;
  const transactions = useMemo(() => pages && transactionsOf(pages), [pages]);
  const query = { ...ledger, currentData: transactions, data: transactions, error: pages ? undefined : ledger.error };
  const { empty, emptyOfKind, end, loading } = texts.transactions;
  return (
    <QueryView
      query={query}
      skeleton={
        <div className={styles.skeleton}>
          <Skeleton shape="row" count={6} label={loading} />
        </div>
      }
      isEmpty={(rows) => rows.length === 0}
      empty={<EmptyState drawing="book" text={filter === null ? empty : emptyOfKind} />}
    >
      {(rows) => (
        <InfiniteList
          hasMore={ledger.hasNextPage}
          loading={ledger.isFetchingNextPage}
          error={ledger.isFetchNextPageError ? ledger.error : undefined}
          onMore={ledger.fetchNextPage}
          end={<EndOfList text={end} />}
        >
          <TransactionLedger transactions={rows} />
        </InfiniteList>
      )}
    </QueryView>
  );
}
