import { failureText, formatMoment, formatPoints, hasNetwork, serverNow } from '@liaozhai/shared/format';
import {
  hostConfig,
  Link,
  onCaughtUpNeeded,
  paths,
  session,
  toast,
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
} from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { useEffect, useState } from 'react';
import { orderKeys, useWalletGetOrdersQuery, useWalletPlaceOrderMutation } from '../api';
import { BalanceFigure } from '../components/BalanceLine';
import { checkoutAddress, checkoutLink, isOpen, type Offer, type Order, type Orders, yuan } from '../model';
import { texts } from '../texts';
import styles from './BalanceRechargePage.module.css';

export default function BalanceRechargePage() {
  const user = useUser();
  const goBack = useGoBack(paths.my());
  const { rechargePackages, paymentProvider } = hostConfig();
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
          <OrderSection configuredOffers={rechargePackages} />
        ) : !areCapabilitiesKnown ? (
          <Skeleton shape="row" count={4} label={texts.recharge.loading} />
        ) : address && rechargePackages.length > 0 ? (
          <Checkout packages={rechargePackages} providerName={paymentProvider.name} address={address} />
        ) : (
          <RechargeClosed packages={rechargePackages} />
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
  useEffect(() => onCaughtUpNeeded(() => void refetch()), [refetch]);
  return (
    <QueryView query={query} skeleton={<Skeleton shape="row" count={4} label={texts.recharge.loading} />}>
      {({ orders, offers, method }: Orders) => (
        <>
          <OpenOrders orders={orders.filter(isOpen)} />
          <NewOrder offers={offers.length > 0 ? offers : configuredOffers} method={method} />
        </>
      )}
    </QueryView>
  );
}

/** Unpaid orders, also from other tabs. */
function OpenOrders({ orders }: { orders: Order[] }) {
  const { open, payBefore, price } = texts.recharge;
  if (orders.length === 0) return null;
  return (
    <section aria-label={open}>
      <h2 className={styles.heading}>{open}</h2>
      <Card flush>
        {orders.map((each) => (
          <RowBoundary key={each.id} of={each}>
            {({ id, points, priceCents, expiresAt }) => (
              <ListRow
                title={points === undefined ? texts.order.title : formatPoints(points)}
                detail={expiresAt && payBefore(formatMoment(expiresAt, serverNow()))}
                value={price(yuan(priceCents))}
                asLink={<Link to={paths.order(id)} />}
              />
            )}
          </RowBoundary>
        ))}
      </Card>
    </section>
  );
}

/** Places an order for the chosen package and opens the provider's page. */
function NewOrder({ offers, method }: { offers: Offer[]; method: string }) {
  const { none, order, ordered, orderedBy, offline, unreachable } = texts.recharge;
  const [chosenId, setChosenId] = useState(offers[0]?.id);
  const isOnline = useOnline();
  const { pay, isPlacing } = useCheckout();
  const chosenOffer = offers.find((offer) => offer.id === chosenId) ?? offers[0];
  if (!chosenOffer) return <EmptyState drawing="moon" text={none} />;
  return (
    <>
      <PackageChoice packages={offers} chosenId={chosenOffer.id} onChoose={setChosenId} />
      <div className={styles.pay}>
        <Button block loading={isPlacing} disabled={!isOnline} onClick={() => void pay(chosenOffer)}>
          {order(yuan(chosenOffer.priceCents))}
        </Button>
        <p className={styles.provider} role="status">
          {isOnline ? (method ? orderedBy(method) : ordered) : hasNetwork() ? unreachable : offline}
        </p>
      </div>
    </>
  );
}

function useCheckout() {
  const navigate = useNavigate();
  const [place, { isLoading: isPlacing }] = useWalletPlaceOrderMutation();
  const placeOrder = (offer: Offer) => place({ packageId: offer.id, clientId: orderKeys.of(offer.id) });
  const pay = async (offer: Offer) => {
    const screen = location.pathname;
    let { data, error } = await placeOrder(offer);
    if (data && !isOpen(data) && data.status !== 'unknown') {
      // the order with this key is settled, so another tap means a new order
      orderKeys.forget(offer.id);
      ({ data, error } = await placeOrder(offer));
    }
    if (!data) {
      const problem = failureText(error);
      if (problem) toast(problem, { kind: 'error' });
      return;
    }
    const { priceCents = offer.priceCents, points = offer.points } = data;
    const matchesOffer = priceCents === offer.priceCents && points === offer.points;
    if (!matchesOffer) toast(texts.recharge.priceChanged, { kind: 'error' });
    // a late answer must not lead away from another screen
    if (location.pathname !== screen) return void toast(texts.recharge.placed);
    const address = data.checkoutUrl ? checkoutAddress(data.checkoutUrl, location.href) : undefined;
    if (matchesOffer && address) location.assign(address);
    else void navigate(paths.order(data.id));
  };
  return { pay, isPlacing };
}

interface CheckoutProps {
  packages: Offer[];
  providerName: string;
  /** Address of the provider's page. */
  address: URL;
}

/** For servers without orders: links to the provider's page with the id of the chosen package. */
function Checkout({ packages, providerName, address }: CheckoutProps) {
  const user = useUser();
  const [chosenId, setChosenId] = useState(packages[0]?.id);
  const chosenOffer = packages.find((offer) => offer.id === chosenId) ?? packages[0];
  if (!chosenOffer || !user) return null;
  const returnUrl = location.origin + location.pathname;
  const href = checkoutLink(address, { packageId: chosenOffer.id, userId: user.id, returnUrl });
  const label = texts.recharge.pay(yuan(chosenOffer.priceCents));
  return (
    <>
      <PackageChoice packages={packages} chosenId={chosenOffer.id} onChoose={setChosenId} />
      <div className={styles.pay}>
        <Button block asLink={<a href={href}>{label}</a>}>
          {label}
        </Button>
        <p className={styles.provider}>{texts.recharge.provider(providerName)}</p>
      </div>
    </>
  );
}

interface PackageChoiceProps {
  packages: Offer[];
  chosenId: string;
  onChoose: (id: string) => void;
}

function PackageChoice({ packages, chosenId, onChoose }: PackageChoiceProps) {
  return (
    <fieldset>
      <legend className={styles.legend}>{texts.recharge.packages}</legend>
      <div className={styles.offers}>
        {packages.map((each) => (
          <RowBoundary key={each.id} of={each}>
            {(offer) => (
              <label className={clsx(styles.offer, offer.id === chosenId && styles.chosen)}>
                <input
                  className={styles.radio}
                  type="radio"
                  name="package"
                  value={offer.id}
                  checked={offer.id === chosenId}
                  onChange={() => onChoose(offer.id)}
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
      <section aria-label={otherWays}>
        <h2 className={styles.heading}>{otherWays}</h2>
        <Card flush>
          <ListRow
            icon={<CheckInIcon size={20} />}
            title={checkIn}
            detail={checkInDetail}
            asLink={<Link to={paths.my()} />}
          />
          <ListRow
            icon={<GiftIcon size={20} />}
            title={invite}
            detail={inviteDetail}
            asLink={<Link to={paths.my()} />}
          />
          <ListRow icon={<SupportIcon size={20} />} title={support} asLink={<Link to={paths.support()} />} />
        </Card>
      </section>
      {packages.length > 0 && (
        <section aria-label={priceList}>
          <h2 className={styles.heading}>{priceList}</h2>
          <Card flush>
            {packages.map((each) => (
              <RowBoundary key={each.id} of={each}>
                {({ points, label, priceCents }) => (
                  <ListRow title={formatPoints(points)} detail={label} value={texts.recharge.price(yuan(priceCents))} />
                )}
              </RowBoundary>
            ))}
          </Card>
        </section>
      )}
    </>
  );
}
