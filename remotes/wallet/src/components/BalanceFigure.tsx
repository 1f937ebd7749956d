import { formatNumber } from '@liaozhai/shared/format';
import { texts } from '../texts';
import styles from './BalanceFigure.module.css';

interface BalanceFigureProps {
  balance: number;
  label?: string;
}

/** The balance as the one large figure of a screen; says its changes to screen readers. */
export function BalanceFigure({ balance, label = texts.balance }: BalanceFigureProps) {
  return (
    <p className={styles.figure} aria-live="polite">
      <span className={styles.label}>{label}</span>
      <span className={styles.amount}>
        {formatNumber(balance)}
        <span className={styles.unit}> {texts.points}</span>
      </span>
    </p>
  );
}
