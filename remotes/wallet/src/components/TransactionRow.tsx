import { formatClock, formatPoints, formatSignedPoints } from '@liaozhai/shared/format';
import clsx from 'clsx';
import type { Transaction } from '../model';
import { texts } from '../texts';
import { KindIcon } from './KindIcon';
import styles from './TransactionRow.module.css';

/** One booking: what for, when, how much, and what was left after it. */
export function TransactionRow({ transaction }: { transaction: Transaction }) {
  const { kind, amount, balanceAfter, description, createdAt } = transaction;
  const kindName = texts.transactions.kinds[kind];
  return (
    <li className={styles.row}>
      <span className={styles.icon}>
        <KindIcon kind={kind} />
      </span>
      <div className={styles.what}>
        <p className={styles.title}>{description || kindName}</p>
        <p className={styles.detail}>
          {description && `${kindName} · `}
          <time dateTime={createdAt}>{formatClock(createdAt)}</time>
        </p>
      </div>
      <div className={styles.figures}>
        <p className={clsx(styles.amount, amount > 0 && styles.gain)}>{formatSignedPoints(amount)}</p>
        {balanceAfter !== undefined && (
          <p className={styles.detail}>{texts.transactions.balanceAfter(formatPoints(balanceAfter))}</p>
        )}
      </div>
    </li>
  );
}
