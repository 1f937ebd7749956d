import { failureText, formatMoment, formatPoints, hasNetwork, serverNow } from '@liaozhai/shared/format';
import {
  hostConfig,
  Link,
  paths,
  session,
  toast,
  type User,
  useCapabilitiesAsked,
  useCapability,
  useGoBack,
  useNavigate,
  useOnline,
  useUser,
} from '@liaozhai/shared/runtime';
import {
  Button,
  Card,
  CheckInIcon,
  EmptyState,
  GiftIcon,
  InkDrawing,
  ListRow,
  listenTo,
  QueryView,
  RowBoundary,
  Skeleton,
  SupportIcon,
  TopBar,
  useNow,
} from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { type ReactNode, useEffect, useState } from 'react';
import { onOrderNews, orderKeys, useWalletGetOrdersQuery, useWalletPlaceOrderMutation } from '../api';
import { BalanceFigure } from '../components/BalanceLine';
import {
  checkoutAddress,
  checkoutLink,
  isOver,
  isPayable,
  isSettled,
  type Offer,
  type Order,
  type Orders,
  onSale,
  orderPoints,
  yuan,
} from '../model';
import { texts } from '../texts';
import styles from './BalanceRechargePage.module.css';

export default function BalanceRechargePage() {
  const user = useUser();
  const goBack = useGoBack(paths.my());
  const { rechargePackages, paymentProvider } = hostConfig();
  const packages = onSale(rechargePackages);
  const hasOrders = useCapability('orders');
  const areCapabilitiesKnown = useCapabilitiesAsked(!hasOrders);
  const address = paymentProvider && checkoutAddress(paymentProvider.checkoutUrl, location.href);
  useBalanceAfterPaying();
  return (
    <>
      <TopBar title={texts.recharge.title} onBack={goBack} />
      <div className={styles.page}>
        {user && <BalanceFigure label={texts.recharge.current} balance={user.balance} />}
        {hasOrders ? (
          <OrderSection configuredOffers={packages} />
        ) : !areCapabilitiesKnown ? (
          <Skeleton shape="row" count={4} label={texts.recharge.loading} />
        ) : address && packages.length > 0 ? (
          user && <Checkout user={user} packages={packages} provider={paymentProvider.name} address={address} />
        ) : (
          <RechargeClosed packages={packages} />
        )}
      </div>
    </>
  );
}

/** Refreshes the balance when the buyer returns from the provider's page, since there may be no socket. */
function useBalanceAfterPaying() {
  useEffect(() => {
    const onVisible = () => document.visibilityState === 'visible' && void session.refresh();
    onVisible();
    return listenTo(document, ['visibilitychange'], onVisible);
  }, []);
}

/** For servers with orders: unpaid orders, and the packages at the server's prices. */
function OrderSection({ configuredOffers }: { configuredOffers: Offer[] }) {
  const query = useWalletGetOrdersQuery(undefined, { refetchOnMountOrArgChange: true });
  const { refetch } = query;
  useEffect(() => onOrderNews(refetch), [refetch]);
  return (
    <QueryView query={query} skeleton={<Skeleton shape="row" count={4} label={texts.recharge.loading} />}>
      {({ orders, offers, method }: Orders) => (
        <>
          <OpenOrders orders={orders} />
          <NewOrder offers={offers.length > 0 ? offers : configuredOffers} method={method} />
        </>
      )}
    </QueryView>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className={styles.heading}>{title}</h2>
      <Card flush>{children}</Card>
    </section>
  );
}

/** Orders that can still be paid, also from other tabs. */
function OpenOrders({ orders }: { orders: Order[] }) {
  const { open, payBefore, price } = texts.recharge;
  const now = useNow(orders.map(({ expiresAt }) => expiresAt));
  const openOrders = orders.filter((order) => isPayable(order, now));
  if (openOrders.length === 0) return null;
  return (
    <Section title={open}>
      {openOrders.map((each) => (
        <RowBoundary key={each.id} of={each}>
          {(order) => (
            <ListRow
              title={orderPoints(order) || texts.order.title}
              detail={order.expiresAt && payBefore(formatMoment(order.expiresAt, now))}
              value={price(yuan(order.priceCents))}
              asLink={<Link to={paths.order(order.id)} />}
            />
          )}
        </RowBoundary>
      ))}
    </Section>
  );
}

/** Places an order for the chosen package and opens the provider's page. */
function NewOrder({ offers, method }: { offers: Offer[]; method: string }) {
  const { order, ordered, orderedBy, offline, unreachable } = texts.recharge;
  const isOnline = useOnline();
  const navigate = useNavigate();
  const [place, { isLoading: isPlacing }] = useWalletPlaceOrderMutation();
  const placeOrder = async (packageId: string) => {
    const { clientId } = orderKeys.of(packageId);
    const answer = await place({ packageId, clientId });
    if (answer.data) orderKeys.answered(packageId, clientId);
    return answer;
  };
  const pay = async (offer: Offer) => {
    const screen = location.pathname;
    const { isAnswered } = orderKeys.of(offer.id);
    let { data, error } = await placeOrder(offer.id);
    if (isAnswered && data && (isSettled(data) || isOver(data, serverNow()))) {
      // an earlier tap placed this order, so this one means a new order
      orderKeys.forget(offer.id);
      ({ data, error } = await placeOrder(offer.id));
    }
    if (!data) {
      const problem = failureText(error);
      if (problem) toast(problem, { kind: 'error' });
      return;
    }
    const { priceCents = offer.priceCents, points = offer.points } = data;
    const matchesOffer = priceCents === offer.priceCents && points === offer.points;
    const isToPay = !isSettled(data);
    if (isToPay && !matchesOffer) toast(texts.recharge.priceChanged, { kind: 'error' });
    // a late answer must not lead away from another screen
    if (location.pathname !== screen)
      return void toast(isToPay ? texts.recharge.placed : texts.order.statuses[data.status]);
    const address =
      isToPay && matchesOffer && data.checkoutUrl ? checkoutAddress(data.checkoutUrl, location.href) : undefined;
    if (address) location.assign(address);
    else void navigate(paths.order(data.id));
  };
  return (
    <PackageChoice packages={offers} disabled={isPlacing}>
      {(chosen) => (
        <>
          <Button block loading={isPlacing} disabled={!isOnline} onClick={() => void pay(chosen)}>
            {order(yuan(chosen.priceCents))}
          </Button>
          <p className={styles.provider} role="status">
            {isOnline ? (method ? orderedBy(method) : ordered) : hasNetwork() ? unreachable : offline}
          </p>
        </>
      )}
    </PackageChoice>
  );
}

interface CheckoutProps {
  user: User;
  packages: Offer[];
  provider: string;
  /** Address of the provider's page. */
  address: URL;
}

/** For servers without orders: links to the provider's page with the id of the chosen package. */
function Checkout({ user, packages, provider, address }: CheckoutProps) {
  const purchase = { userId: user.id, returnUrl: location.origin + location.pathname };
  return (
    <PackageChoice packages={packages}>
      {({ id: packageId, priceCents }) => (
        <>
          <Button block asLink={<a href={checkoutLink(address, { ...purchase, packageId })}>{provider}</a>}>
            {texts.recharge.pay(yuan(priceCents))}
          </Button>
          <p className={styles.provider}>{texts.recharge.provider(provider)}</p>
        </>
      )}
    </PackageChoice>
  );
}

interface PackageChoiceProps {
  packages: Offer[];
  disabled?: boolean;
  /** Renders the way to pay for the chosen package. */
  children: (chosen: Offer) => ReactNode;
}

function PackageChoice({ packages, disabled, children }: PackageChoiceProps) {
  const [chosenId, setChosenId] = useState(packages[0]?.id);
  const chosenOffer = packages.find((offer) => offer.id === chosenId) ?? packages[0];
  if (!chosenOffer) return <EmptyState drawing="moon" text={texts.recharge.none} />;
  return (
    <>
      <fieldset disabled={disabled}>
        <legend className={styles.legend}>{texts.recharge.packages}</legend>
        <div className={styles.offers}>
          {packages.map((each) => (
            <RowBoundary key={each.id} of={each}>
              {(offer) => (
                <label className={clsx(styles.offer, offer === chosenOffer && styles.chosen)}>
                  <input
                    className={styles.radio}
                    type="radio"
                    name="package"
                    value={offer.id}
                    checked={offer === chosenOffer}
                    onChange={() => setChosenId(offer.id)}
                  />
                  <span className={styles.ring} />
                  <span className={styles.points}>{formatPoints(offer.points)}</span>
                  <span className={styles.price}>{texts.recharge.price(yuan(offer.priceCents))}</span>
                  {offer.label && <span className={styles.label}>{offer.label}</span>}
                </label>
              )}
            </RowBoundary>
          ))}
        </div>
      </fieldset>
      <div className={styles.pay}>{children(chosenOffer)}</div>
    </>
  );
}

/** Shown without a payment provider: an explanation, other ways to get points, and the prices, if configured. */
function RechargeClosed({ packages }: { packages: Offer[] }) {
  const { closed, closedReason, priceList, otherWays, checkIn, checkInDetail, invite, inviteDetail, support } =
    texts.recharge;
  return (
    <>
      <section className={styles.notice} aria-label={closed}>
        <InkDrawing name="moon" />
        <h2 className={styles.heading}>{closed}</h2>
        <p className={styles.reason}>{closedReason}</p>
      </section>
      <Section title={otherWays}>
        <ListRow
          icon={<CheckInIcon size={20} />}
          title={checkIn}
          detail={checkInDetail}
          asLink={<Link to={paths.my()} />}
        />
        <ListRow icon={<GiftIcon size={20} />} title={invite} detail={inviteDetail} asLink={<Link to={paths.my()} />} />
        <ListRow icon={<SupportIcon size={20} />} title={support} asLink={<Link to={paths.support()} />} />
      </Section>
      {packages.length > 0 && (
        <Section title={priceList}>
          {packages.map((each) => (
            <RowBoundary key={each.id} of={each}>
              {({ points, label, priceCents }) => (
                <ListRow title={formatPoints(points)} detail={label} value={texts.recharge.price(yuan(priceCents))} />
              )}
            </RowBoundary>
          ))}
        </Section>
      )}
    </>
  );
}
