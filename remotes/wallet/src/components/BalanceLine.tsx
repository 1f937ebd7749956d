import { formatNumber } from '@liaozhai/shared/format';
import { Link, paths, useUser } from '@liaozhai/shared/runtime';
import { Button } from '@liaozhai/shared/ui';
import { texts } from '../texts';
import styles from './BalanceLine.module.css';

/** Fills the slot `my.balance`: what the signed-in user has, and the ways to more and to the ledger. */
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

interface BalanceFigureProps {
  /** points; undefined where the server has not told them */
  balance: number | undefined;
  label?: string;
}

/** The balance as the one large figure of a screen; says its changes to screen readers. */
export function BalanceFigure({ balance, label = texts.balance }: BalanceFigureProps) {
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
