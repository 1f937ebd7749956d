import { hostConfig, paths, session, useGoBack, useUser } from '@liaozhai/shared/runtime';
import { TopBar } from '@liaozhai/shared/ui';
import { useEffect } from 'react';
import { BalanceFigure } from '../components/BalanceFigure';
import { Checkout } from '../components/Checkout';
import { RechargeClosed } from '../components/RechargeClosed';
import { checkoutAddress } from '../model';
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
