import { type HostConfig, useUser } from '@liaozhai/shared/runtime';
import { Button } from '@liaozhai/shared/ui';
import { useState } from 'react';
import { checkoutLink, yuan } from '../model';
import { texts } from '../texts';
import styles from './Checkout.module.css';
import { PackageChoice } from './PackageChoice';

interface CheckoutProps {
  packages: HostConfig['rechargePackages'];
  provider: NonNullable<HostConfig['paymentProvider']>;
}

/** Choose a package, then go to the provider's page with its id. */
export function Checkout({ packages, provider }: CheckoutProps) {
  const [chosenId, setChosenId] = useState(packages[0]?.id);
  const chosen = packages.find((offer) => offer.id === chosenId) ?? packages[0];
  const user = useUser();
  const returnUrl = location.origin + location.pathname;
  const href =
    chosen && user && checkoutLink(provider.checkoutUrl, { packageId: chosen.id, userId: user.id, returnUrl });
  return (
    <>
      <PackageChoice packages={packages} chosenId={chosen?.id} onChoose={setChosenId} />
      {chosen && href && (
        <div className={styles.pay}>
          {/* a link, because paying is another page */}
          <Button block asLink={<a href={href}>{texts.recharge.pay(yuan(chosen.priceCents))}</a>}>
            {texts.recharge.pay(yuan(chosen.priceCents))}
          </Button>
          <p className={styles.provider}>{texts.recharge.provider(provider.name)}</p>
        </div>
      )}
    </>
  );
}
