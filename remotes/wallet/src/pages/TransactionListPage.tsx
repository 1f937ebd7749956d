import { formatClock, formatPoints, formatSignedPoints, groupByDay, rowsOf } from '@liaozhai/shared/format';
import { Link, paths, useGoBack, useSearchParams, useUser } from '@liaozhai/shared/runtime';
import {
  Button,
  ChatIcon,
  CheckInIcon,
  Chip,
  ContinueIcon,
  EmptyState,
  EndOfList,
  GiftIcon,
  InfiniteList,
  PointsIcon,
  QueryView,
  RefreshIcon,
  RowBoundary,
  Skeleton,
  SparkIcon,
  TopBar,
  TransactionsIcon,
  useShanghaiDay,
} from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { useMemo } from 'react';
import { type Filter, useWalletGetTransactionsInfiniteQuery } from '../api';
import { BalanceFigure } from '../components/BalanceLine';
import { type Receipt, type Transaction, transactionKinds, yuan } from '../model';
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
  const transactions = useMemo(() => pages && rowsOf(pages), [pages]);
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

function KindFilter({ value, onChange }: { value: Filter; onChange: (value: Filter) => void }) {
  const { all, filter, kinds } = texts.transactions;
  return (
    <fieldset className={styles.filter} aria-label={filter}>
      {([null, ...transactionKinds] as const).map((kind) => (
        <Chip key={kind} selected={kind === value} onClick={() => onChange(kind)}>
          {kind === null ? all : kinds[kind]}
        </Chip>
      ))}
    </fieldset>
  );
}

/** Transactions grouped by Shanghai day, with sticky headings. */
function TransactionLedger({ transactions }: { transactions: Transaction[] }) {
  // `today` is a day's key, which parses as an instant within that day
  const today = useShanghaiDay();
  const days = groupByDay(transactions, (transaction) => transaction.createdAt, today);
  return days.map(({ key: day, title, items }, index) => (
    // the same day can occur twice if the server's rows are out of order
    <section
      key={`${day} ${days.slice(0, index).filter(({ key }) => key === day).length}`}
      aria-label={title || texts.transactions.undated}
    >
      <h2 className={styles.heading}>{title || texts.transactions.undated}</h2>
      <ul className={styles.rows}>
        {items.map((each) => (
          <RowBoundary key={each.id} of={each} as="li">
            {(transaction) => <TransactionRow transaction={transaction} />}
          </RowBoundary>
        ))}
      </ul>
    </section>
  ));
}

function TransactionRow({ transaction }: { transaction: Transaction }) {
  const { kind, amount, balanceAfter, description, createdAt, receipt } = transaction;
  const kindName = texts.transactions.kinds[kind];
  const Icon = icons[kind];
  return (
    <li className={styles.row}>
      <span className={styles.icon}>
        <Icon size={20} aria-hidden="true" />
      </span>
      <div>
        <p className={styles.title}>{description || kindName}</p>
        <p className={styles.detail}>
          {description && <span>{createdAt ? `${kindName} · ` : kindName}</span>}
          {createdAt && <time dateTime={createdAt}>{formatClock(createdAt)}</time>}
        </p>
        {receipt && <ReceiptLink receipt={receipt} />}
      </div>
      <div className={styles.figures}>
        {amount !== undefined && (
          <p className={clsx(styles.amount, amount > 0 && styles.gain)}>{formatSignedPoints(amount)}</p>
        )}
        {balanceAfter !== undefined && (
          <p className={styles.detail}>{texts.transactions.balanceAfter(formatPoints(balanceAfter))}</p>
        )}
      </div>
    </li>
  );
}

function ReceiptLink({ receipt: { orderId, priceCents, method } }: { receipt: Receipt }) {
  return (
    <Link className={styles.receipt} to={paths.order(orderId)}>
      {[texts.transactions.receipt(orderId), priceCents !== undefined && texts.recharge.price(yuan(priceCents)), method]
        .filter(Boolean)
        .join(' · ')}
    </Link>
  );
}

const icons = {
  message: ChatIcon,
  continue: ContinueIcon,
  suggestion: SparkIcon,
  recharge: PointsIcon,
  gift: GiftIcon,
  check_in: CheckInIcon,
  invite: GiftIcon,
  refund: RefreshIcon,
  other: TransactionsIcon,
} satisfies Record<Transaction['kind'], unknown>;
