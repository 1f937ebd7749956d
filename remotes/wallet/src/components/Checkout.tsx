import { type HostConfig, useUser } from '@liaozhai/shared/runtime';
import { Button } from '@liaozhai/shared/ui';
import { useState } from 'react';
import { checkoutLink, yuan } from '../model';
import { texts } from '../texts';
import styles from './Checkout.module.css';
import { PackageChoice } from './PackageChoice';

interface CheckoutProps {
  packages: HostConfig['rechargePackages'];
  providerName: string;
  /** the provider's page */
  address: URL;
}

/** Choose a package, then go to the provider's page with its id. */
export function Checkout({ packages, providerName, address }: CheckoutProps) {
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
