import { formatPoints } from '@liaozhai/shared/format';
import { type HostConfig, hostConfig, Link, paths, session, useGoBack, useUser } from '@liaozhai/shared/runtime';
import { Button, Card, CheckInIcon, GiftIcon, InkDrawing, ListRow, SupportIcon, TopBar } from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { useEffect, useState } from 'react';
import { BalanceFigure } from '../components/BalanceFigure';
import { checkoutAddress, checkoutLink, yuan } from '../model';
import { texts } from '../texts';
import styles from './BalanceRechargePage.module.css';

export default function BalanceRechargePage() {
  const user = useUser();
  const goBack = useGoBack(paths.my());
  const { rechargePackages, paymentProvider } = hostConfig();
  const address = paymentProvider && checkoutAddress(paymentProvider.checkoutUrl, location.href);
  useBalanceAfterPaying();
  return (
    <>
      <TopBar title={texts.recharge.title} onBack={goBack} />
      <div className={styles.page}>
        {user && <BalanceFigure label={texts.recharge.current} balance={user.balance} />}
        {address && rechargePackages.length > 0 ? (
          <Checkout packages={rechargePackages} providerName={paymentProvider.name} address={address} />
        ) : (
          <RechargeClosed packages={rechargePackages} />
        )}
      </div>
    </>
  );
}

/** Paying happens on the provider's page; whoever comes back from there sees what arrived, socket or not. */
function useBalanceAfterPaying() {
  useEffect(() => {
    const onVisible = () => document.visibilityState === 'visible' && void session.refresh();
    onVisible();
    document.addEventListener('visibilitychange', onVisible);
    return () => document.removeEventListener('visibilitychange', onVisible);
  }, []);
}

interface CheckoutProps {
  packages: HostConfig['rechargePackages'];
  providerName: string;
  /** the provider's page */
  address: URL;
}

/** Choose a package, then go to the provider's page with its id. */
function Checkout({ packages, providerName, address }: CheckoutProps) {
  const user = useUser();
  const [chosenId, setChosenId] = useState(packages[0]?.id);
  const chosen = packages.find((offer) => offer.id === chosenId) ?? packages[0];
  if (!chosen || !user) return null;
  const returnUrl = location.origin + location.pathname;
  const href = checkoutLink(address, { packageId: chosen.id, userId: user.id, returnUrl });
  const label = texts.recharge.pay(yuan(chosen.priceCents));
  return (
    <>
      <PackageChoice packages={packages} chosenId={chosen.id} onChoose={setChosenId} />
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
  packages: HostConfig['rechargePackages'];
  chosenId: string;
  onChoose: (id: string) => void;
}

function PackageChoice({ packages, chosenId, onChoose }: PackageChoiceProps) {
  return (
    <fieldset>
      <legend className={styles.legend}>{texts.recharge.packages}</legend>
      <div className={styles.offers}>
        {packages.map((offer) => (
          <label key={offer.id} className={clsx(styles.offer, offer.id === chosenId && styles.chosen)}>
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
        ))}
      </div>
    </fieldset>
  );
}

/** Without a payment provider: says so, shows the prices if there are any, and what gives points today. */
function RechargeClosed({ packages }: { packages: HostConfig['rechargePackages'] }) {
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
            {packages.map((offer) => (
              <ListRow
                key={offer.id}
                title={formatPoints(offer.points)}
                detail={offer.label}
                value={texts.recharge.price(yuan(offer.priceCents))}
              />
            ))}
          </Card>
        </section>
      )}
    </>
  );
}
