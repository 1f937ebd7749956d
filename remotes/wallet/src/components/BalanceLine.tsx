import { formatNumber } from '@liaozhai/shared/format';
import { Link, paths, useUser } from '@liaozhai/shared/runtime';
import { Button } from '@liaozhai/shared/ui';
import { texts } from '../texts';
import styles from './BalanceLine.module.css';

/** Fills the slot `my.balance`: the user's balance, with links to buy points and to the list of transactions. */
export default function BalanceLine() {
  const user = useUser();
  if (!user) return null;
  return (
    <section className={styles.line} aria-label={texts.balance}>
      <BalanceFigure balance={user.balance} />
      <div className={styles.ways}>
        <Button variant="quiet" asLink={<Link to={paths.transactions()} />}>
          {texts.transactions.title}
        </Button>
        <Button asLink={<Link to={paths.recharge()} />}>{texts.recharge.title}</Button>
      </div>
    </section>
  );
}

/** The balance in points in large type; screen readers announce its changes. undefined if the server has not sent it. */
export function BalanceFigure({ balance, label = texts.balance }: { balance: number | undefined; label?: string }) {
  return (
    <p className={styles.figure} aria-live="polite">
      <span className={styles.label}>{label}</span>
      <span className={styles.amount}>
        <span translate="no">{balance === undefined ? '—' : formatNumber(balance)}</span>
        <span className={styles.unit}> {texts.points}</span>
      </span>
    </p>
  );
}
