import { failureText, formatMoment, serverNow } from '@liaozhai/shared/format';
import {
  api,
  copyText,
  isApiError,
  isCallMissing,
  Link,
  paths,
  session,
  toast,
  useDispatch,
  useGoBack,
  useParams,
  useUser,
} from '@liaozhai/shared/runtime';
import {
  Button,
  Card,
  CopyIcon,
  EmptyState,
  Foreign,
  IconButton,
  InkDrawing,
  QueryView,
  Skeleton,
  Spinner,
  stopAll,
  TopBar,
  useNow,
} from '@liaozhai/shared/ui';
import { useEffect } from 'react';
import { onOrderNews, useWalletGetOrderQuery, useWalletPlaceOrderMutation } from '../api';
import { BalanceFigure } from '../components/BalanceLine';
import { checkoutAddress, isOver, isWaiting, type Order, orderPoints, yuan } from '../model';
import { texts } from '../texts';
import styles from './OrderReadPage.module.css';

/** Polling intervals of an unsettled order; the last one repeats. A socket event usually arrives earlier. */
const POLL_INTERVALS_MS = [1_000, 2_000, 3_000, 5_000, 8_000, 13_000, 20_000, 30_000];

/** Status and receipt of an order, also the page to which the provider returns. */
export default function OrderReadPage() {
  const { id = '' } = useParams();
  const user = useUser();
  const goBack = useGoBack(paths.recharge());
  const query = useWalletGetOrderQuery(id, { refetchOnMountOrArgChange: true, skip: !user });
  const order = query.currentData;
  useOrderPolling(query.refetch, user !== null && order !== undefined && isWaiting(order));
  useRefreshAfterCredit(order);
  // a server that no longer supports payments has no orders either
  const isMissing = isApiError(query.error) && (query.error.kind === 'notFound' || isCallMissing(query.error));
  return (
    <>
      <TopBar title={texts.order.title} onBack={goBack} />
      <div className={styles.page}>
        {isMissing && <NoOrder />}
        {user && !isMissing && (
          <QueryView query={query} skeleton={<Skeleton shape="row" count={4} label={texts.order.loading} />}>
            {(shown) => (
              <>
                <OrderStatus order={shown} />
                <OrderFacts order={shown} />
                {shown.status === 'credited' && <BalanceFigure label={texts.recharge.current} balance={user.balance} />}
              </>
            )}
          </QueryView>
        )}
      </div>
    </>
  );
}

/** Shown for another user's order or a mistyped address. */
const NoOrder = () => (
  <EmptyState
    drawing="moon"
    text={texts.order.missing}
    action={
      <div className={styles.actions}>
        <ActionLink to={paths.recharge()} label={texts.order.toRecharge} />
        <ActionLink to={paths.transactions()} label={texts.order.ledger} isQuiet />
      </div>
    }
  />
);

interface ActionLinkProps {
  to: string;
  label: string;
  isQuiet?: boolean;
}

const ActionLink = ({ to, label, isQuiet = false }: ActionLinkProps) => (
  <Button block variant={isQuiet ? 'quiet' : 'primary'} asLink={<Link to={to} />}>
    {label}
  </Button>
);

/** Fetches immediately when the server reports an order or events may have been missed, otherwise at growing intervals. */
function useOrderPolling(refetch: () => unknown, isUnsettled: boolean) {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let pollCount = 0;
    const scheduleNext = () => {
      clearTimeout(timer);
      const delayMs = POLL_INTERVALS_MS[Math.min(pollCount, POLL_INTERVALS_MS.length - 1)];
      pollCount += 1;
      timer = setTimeout(() => {
        // a hidden page fetches when it becomes visible again, see `onCaughtUpNeeded`
        if (document.visibilityState === 'visible') void refetch();
        scheduleNext();
      }, delayMs);
    };
    const pollNow = () => {
      void refetch();
      pollCount = 0;
      if (isUnsettled) scheduleNext();
    };
    if (isUnsettled) scheduleNext();
    return stopAll(() => clearTimeout(timer), onOrderNews(pollNow));
  }, [refetch, isUnsettled]);
}

/** Updates the balance and the transactions after the credit, since there may be no socket. */
function useRefreshAfterCredit(order: Order | undefined) {
  const dispatch = useDispatch();
  const isCredited = order?.status === 'credited';
  useEffect(() => {
    if (!isCredited) return;
    void session.refresh();
    dispatch(api.util.invalidateTags(['Transaction']));
  }, [isCredited, dispatch]);
}

function OrderStatus({ order: received }: { order: Order }) {
  const { statuses, details, waiting } = texts.order;
  const hasTime = !isOver(received, useNow([received.expiresAt]));
  // without a provider nothing can have been paid
  const order = received.status === 'created' && !hasTime ? { ...received, status: 'expired' as const } : received;
  const { status, expiresAt } = order;
  return (
    <section className={styles.status} aria-live="polite">
      {isWaiting(order) && status !== 'created' ? (
        <span className={styles.waiting}>
          <Spinner label={waiting} />
        </span>
      ) : (
        <InkDrawing name={status === 'credited' ? 'lantern' : 'moon'} />
      )}
      <h2 className={styles.heading}>{statuses[status]}</h2>
      {orderPoints(order) && <p className={styles.amount}>{orderPoints(order)}</p>}
      <p className={styles.detail}>{details[status]}</p>
      {status === 'pending' && expiresAt && (
        <p className={styles.detail}>{hasTime ? texts.recharge.payBefore(timeOf(expiresAt)) : texts.order.over}</p>
      )}
      <OrderActions order={order} hasTime={hasTime} />
    </section>
  );
}

function OrderActions({ order, hasTime }: { order: Order; hasTime: boolean }) {
  const { pay, other, again, read, ledger, support } = texts.order;
  const { status, checkoutUrl } = order;
  const address = checkoutUrl && checkoutAddress(checkoutUrl, location.href);
  return (
    <div className={styles.actions}>
      {status === 'created' && <RetryButton order={order} />}
      {status === 'pending' && hasTime && address && (
        <Button block asLink={<a href={address.href}>{pay}</a>}>
          {pay}
        </Button>
      )}
      {(status === 'created' || status === 'pending') && <ActionLink to={paths.recharge()} label={other} isQuiet />}
      {(status === 'expired' || status === 'failed') && <ActionLink to={paths.recharge()} label={again} />}
      {(status === 'expired' || status === 'unknown') && <ActionLink to={paths.support()} label={support} isQuiet />}
      {status === 'credited' && (
        <>
          <ActionLink to={paths.conversations()} label={read} />
          <ActionLink to={paths.transactions()} label={ledger} isQuiet />
        </>
      )}
    </div>
  );
}

/** Places the same order again: the provider could not be reached before. */
function RetryButton({ order: { packageId, clientId } }: { order: Order }) {
  const [place, { isLoading }] = useWalletPlaceOrderMutation();
  if (clientId === undefined) return null;
  const retry = async () => {
    const { error } = await place({ packageId, clientId });
    const problem = error && failureText(error);
    if (problem) toast(problem, { kind: 'error' });
  };
  return (
    <Button block loading={isLoading} onClick={() => void retry()}>
      {texts.order.retry}
    </Button>
  );
}

const timeOf = (instant: string): string => formatMoment(instant, serverNow());

function OrderFacts({ order }: { order: Order }) {
  const words = texts.order;
  const copy = async () => {
    const isCopied = await copyText(order.id);
    toast(isCopied ? words.copied : words.copyFailed, { kind: isCopied ? 'success' : 'error' });
  };
  const facts = [
    [words.price, order.priceCents !== undefined && texts.recharge.price(yuan(order.priceCents))],
    [words.method, order.method],
    [words.createdAt, order.createdAt && timeOf(order.createdAt)],
    [words.paidAt, order.paidAt && timeOf(order.paidAt)],
  ] as const;
  return (
    <Card>
      <dl className={styles.facts}>
        <div className={styles.fact}>
          <dt>{words.number}</dt>
          <dd className={styles.number}>
            <span translate="no">
              <Foreign>{order.id}</Foreign>
            </span>
            <IconButton label={words.copyNumber} icon={<CopyIcon size={18} />} onClick={() => void copy()} />
          </dd>
        </div>
        {facts.map(
          ([name, value]) =>
            value && (
              <div key={name} className={styles.fact}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
    </Card>
  );
}
